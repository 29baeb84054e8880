/*
 * Names for people: demangled symbols (demangle.c), and Rust type and function names made short
 * (names.c). Input may be hostile: names longer than NAME_MAX_LENGTH are cut and end in "...",
 * nesting is followed to NAME_MAX_DEPTH. Every result is sanitised (str_append_clean) and
 * lives in the arena given; none is NULL but where it says so.
 */
#ifndef DWARF_NAMES_DEMANGLE_H
#define DWARF_NAMES_DEMANGLE_H

#include "debugger/base/arena.h"

enum {
	NAME_MAX_LENGTH = 64 * 1024,
	NAME_MAX_DEPTH = 64,
};

/*
 * The demangled name of an ELF symbol or linkage name (Rust legacy and v0, C++), without the
 * legacy hash; an LLVM suffix (".llvm.123") is cut first. A name that is not mangled comes
 * back as it is.
 */
const char *demangle(struct arena *a, const char *symbol);

/*
 * A type or function name for reading.
 *
 * - A path in a generic argument, behind & and *, in a tuple or an array is cut to its type:
 *   "tokio::sync::mutex::Mutex<u8>" becomes "Mutex<u8>", "core::option::Option<T>::Some"
 *   becomes "Option<T>::Some". The type is the first part in capitals, else the last part.
 * - The path of the whole name is cut so only in core, alloc and std, and only when it has
 *   a type: "std::thread::park" and "app::net::Server" stay.
 * - A coroutine or closure is its kind and name_function(), path and all, wherever it stands:
 *   "app::run::{async_fn_env#0}<T>" becomes "async fn app::run", "app::main::
 *   {closure_env#0}" becomes "closure app::main::{closure#0}".
 * - Default arguments go: alloc::alloc::Global, std::alloc::System, RandomState.
 * - The parentheses of "(dyn A + B)" stay only behind & and *.
 * - A constant that is no number, "{CONST#8f...}", becomes "_".
 *
 * "core::pin::Pin<alloc::boxed::Box<(dyn core::future::future::Future<Output=()> +
 * core::marker::Send), alloc::alloc::Global>>" becomes "Pin<Box<dyn Future<Output=()> + Send>>".
 * A name that does not parse is returned whole.
 */
const char *name_short(struct arena *a, const char *full);

/*
 * The path without any generic arguments: "app::run<u8, Vec<u8>>" becomes "app::run",
 * "<app::A<u8>>::go::<3>" becomes "app::A::go". A function of a trait's impl keeps its trait,
 * because the type can have one of its own of the same name: "<app::A<u8> as app::Tr>::go"
 * becomes "<app::A as app::Tr>::go".
 */
const char *name_without_generics(struct arena *a, const char *full);

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
 * The path of a function with its last `{impl#N}` resolved, from the linkage name of one of its
 * poll functions: legacy "_ZN5tokio4sync5mutex14Mutex$LT$T$GT$4lock28_$u7b$...E" gives
 * "tokio::sync::mutex::Mutex::lock"; "<app::A as app::Tr>::go" stays as it is.
 * dwarf_path is what name_function() said ("tokio::sync::mutex::{impl#8}::lock"); its parts
 * outside `{impl#N}` must agree with the symbol, but for the module of a trait's impl, which the
 * symbol does not tell. NULL when the symbol does not tell or dwarf_path has no `{impl#N}`.
 */
const char *name_impl_from_linkage(struct arena *a, const char *dwarf_path, const char *linkage);

#endif
