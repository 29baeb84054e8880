# Tracing needs clang for the program that runs in the kernel, libbpf to load it and capstone to
# place its probe points. Where one is missing asyncdbg is built without it, and says so.

set(PROBE_UNUSED debugger/probe/probe_none.c)
set(PROBE_SOURCES debugger/probe/probe.c debugger/probe/off_time.c debugger/probe/code_site.c
	debugger/probe/code_exchange.c debugger/probe/code_store.c debugger/probe/code_sweep.c)
find_program(PROBE_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
pkg_check_modules(LIBBPF libbpf)
pkg_check_modules(CAPSTONE capstone)
if(PROBE_CLANG AND LIBBPF_FOUND AND CAPSTONE_FOUND AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
	set(PROBE_LINK_LIBRARIES ${LIBBPF_LINK_LIBRARIES} ${CAPSTONE_LINK_LIBRARIES})
	if(ASYNCDBG_STATIC)
		set(PROBE_LINK_LIBRARIES bpf capstone)
	endif()
else()
	message(WARNING "Without tracing: it needs clang, libbpf and capstone on x86_64")
	set(PROBE_LINK_LIBRARIES)
	set(PROBE_UNUSED ${PROBE_SOURCES} debugger/probe/code_site_test.c debugger/probe/code_exchange_test.c
		debugger/probe/code_store_test.c)
endif()

# Text of machine code needs capstone alone.
set(CODE_UNUSED debugger/code/instruction_none.c)
set(CODE_LINK_LIBRARIES ${CAPSTONE_LINK_LIBRARIES})
if(NOT CAPSTONE_FOUND)
	set(CODE_UNUSED debugger/code/instruction.c debugger/code/instruction_test.c)
elseif(ASYNCDBG_STATIC)
	set(CODE_LINK_LIBRARIES capstone)
endif()

# probe_compile(NAME VARIABLE): compiles NAME.bpf.c and puts its object file into NAME.c, where
# VARIABLE names it.
function(probe_compile name variable)
	set(dir ${CMAKE_SOURCE_DIR}/debugger/probe)
	file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.bpf.h)
	set(program ${CMAKE_BINARY_DIR}/${name}.bpf.o)
	add_custom_command(OUTPUT ${program}
		COMMAND ${PROBE_CLANG} -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -Wall -Wextra
			-I${CMAKE_SOURCE_DIR} -isystem /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
			-fdebug-compilation-dir=. -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -c ${dir}/${name}.bpf.c -o ${program}
		DEPENDS ${dir}/${name}.bpf.c ${dir}/probe_record.h ${headers}
		VERBATIM)
	set_source_files_properties(debugger/probe/${name}.c PROPERTIES OBJECT_DEPENDS ${program}
		COMPILE_DEFINITIONS ${variable}="${program}")
endfunction()

# probe_programs(): the programs of the kernel, for the library.
function(probe_programs)
	if(PROBE_LINK_LIBRARIES)
		probe_compile(probe PROBE_PROGRAM)
		probe_compile(off_time OFF_TIME_PROGRAM)
	endif()
endfunction()
