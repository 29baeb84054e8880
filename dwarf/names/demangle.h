/*
 * Names for display: demangled symbols (demangle.c), and shortened Rust type and function names
 * (names.c). Input may be hostile: names longer than NAME_MAX_LENGTH are cut and end in "...", and
 * nesting is followed to NAME_MAX_DEPTH. Every result is sanitised (str_append_clean) and allocated
 * in the given arena. A result is NULL only where the function says so.
 */
#ifndef DWARF_NAMES_DEMANGLE_H
#define DWARF_NAMES_DEMANGLE_H

#include <stdbool.h>

#include "debugger/base/arena.h"

enum {
	NAME_MAX_LENGTH = 64 * 1024,
	NAME_MAX_DEPTH = 64,
};

/*
 * The demangled name of an ELF symbol or linkage name (Rust legacy and v0, C++), without the legacy
 * hash. An LLVM suffix (".llvm.123") is cut first. A name that is not mangled is returned
 * unchanged.
 */
const char *demangle(struct arena *a, const char *symbol);

/*
 * Shortens a type or function name for display.
 *
 * - A path in a generic argument, after & and *, in a tuple or an array is cut to its type:
 *   "tokio::sync::mutex::Mutex<u8>" becomes "Mutex<u8>", "core::option::Option<T>::Some" becomes
 *   "Option<T>::Some". The type is the first part that starts with a capital, or else the last
 *   part.
 * - The path of the whole name is cut in this way only in core, alloc and std, and only if it
 *   contains a type: "std::thread::park" and "app::net::Server" stay.
 * - A coroutine or closure becomes its kind and its name_function(), with the path, wherever it
 *   stands: "app::run::{async_fn_env#0}<T>" becomes "async fn app::run",
 *   "app::main::{closure_env#0}" becomes "closure app::main::{closure#0}".
 * - Default arguments are removed: alloc::alloc::Global, std::alloc::System, RandomState.
 * - The parentheses of "(dyn A + B)" are kept only after & and *.
 * - A constant that is no number, "{CONST#8f...}", becomes "_".
 *
 * "core::pin::Pin<alloc::boxed::Box<(dyn core::future::future::Future<Output=()> +
 * core::marker::Send), alloc::alloc::Global>>" becomes "Pin<Box<dyn Future<Output=()> + Send>>". A
 * name that does not parse is returned whole.
 */
const char *name_short(struct arena *a, const char *full);
/* Whether a type's full name is that of a Pin<Box<T>>. */
bool name_is_pinned_box(const char *full);

/*
 * The path without any generic arguments: "app::run<u8, Vec<u8>>" becomes "app::run",
 * "<app::A<u8>>::go::<3>" becomes "app::A::go". A function of a trait impl keeps the trait, because
 * the type may have a function of the same name: "<app::A<u8> as app::Tr>::go" becomes "<app::A as
 * app::Tr>::go".
 */
const char *name_without_generics(struct arena *a, const char *full);

/* "<app::A as app::Tr>::go" becomes "app::A::go"; other names stay. */
const char *name_without_trait(struct arena *a, const char *name);

/*
 * The function path of a coroutine's type or poll function as the programmer wrote it:
 * "app::mid::{async_fn_env#0}<u8>" and "app::mid::{async_fn#0}" become "app::mid",
 * "app::run::{async_fn#0}::{async_block_env#1}" becomes "app::run::{async_block#1}",
 * "app::go::{closure_env#0}" becomes "app::go::{closure#0}", and the future of an async
 * closure, "app::go::{closure#0}::{async_closure_env#0}", too. Generics are cut.
 * `{impl#N}` stays: the caller resolves it (see name_impl_from_linkage()).
 */
const char *name_function(struct arena *a, const char *full);

/*
 * The path of a function with its last `{impl#N}` resolved by the linkage name of one of its poll
 * functions: legacy "_ZN5tokio4sync5mutex14Mutex$LT$T$GT$4lock28_$u7b$...E" gives
 * "tokio::sync::mutex::Mutex::lock"; "<app::A as app::Tr>::go" is returned unchanged. dwarf_path is
 * a result of name_function() ("tokio::sync::mutex::{impl#8}::lock"). Its parts outside `{impl#N}`
 * must match the symbol, except for the module of a trait impl, which the symbol does not contain.
 * NULL when the symbol does not determine the name, or dwarf_path has no `{impl#N}`.
 */
const char *name_impl_from_linkage(struct arena *a, const char *dwarf_path, const char *linkage);

#endif
