# Puts styles and scripts into a page and writes the whole as C.
#
# usage: cmake -D PAGE=a/page.html -D "STYLES=a.css;b.css" "SCRIPTS=a.js;b.js" -D HEADER=a/a_page.h -D OUTPUT=FILE.c
#	-P embed.cmake
#
# The variables of a/a_page.h are a_page_head, a_page_tail and their sizes.
#
# The scripts become one, in their order: what one declares, those behind it can use. So do styles.
# The page allows itself nothing but this very style and this very script, by their hashes.

# base64(VARIABLE HEX): the bytes that HEX says. Six hexadecimal digits are four letters.
function(base64 variable hex)
	set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
	set(text "")
	string(LENGTH "${hex}" length)
	math(EXPR missing "(6 - ${length} % 6) % 6")
	string(REPEAT 0 ${missing} zeros)
	string(REGEX MATCHALL "......" groups "${hex}${zeros}")
	foreach(group ${groups})
		foreach(shift 18 12 6 0)
			math(EXPR letter "(0x${group} >> ${shift}) & 63")
			string(SUBSTRING ${letters} ${letter} 1 letter)
			string(APPEND text "${letter}")
		endforeach()
	endforeach()
	# Two digits that were added are a letter that says nothing.
	math(EXPR padding "${missing} / 2")
	string(LENGTH "${text}" length)
	math(EXPR length "${length} - ${padding}")
	string(SUBSTRING "${text}" 0 ${length} text)
	string(REPEAT = ${padding} padding)
	set(${variable} "${text}${padding}" PARENT_SCOPE)
endfunction()

# include_part(TOKEN FILE...): files in place of @TOKEN@, their hash in place of @TOKEN_HASH@.
function(include_part token)
	set(text "")
	foreach(file ${ARGN})
		file(READ ${file} part)
		if(part MATCHES "</(script|style)|<!--|@DATA@")
			message(FATAL_ERROR "${file}: ${CMAKE_MATCH_0} would end it where it stands")
		endif()
		string(APPEND text "${part}")
	endforeach()
	string(SHA256 hash "${text}")
	base64(hash ${hash})
	string(REPLACE "@${token}_HASH@" "sha256-${hash}" page "${page}")
	string(REPLACE "@${token}@" "${text}" page "${page}")
	set(page "${page}" PARENT_SCOPE)
endfunction()

# array(NAME TEXT): its definition in C.
function(array name text)
	string(HEX "${text}" bytes)
	string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
	file(APPEND ${OUTPUT}.new "const char ${name}[] = {${bytes}};
const size_t ${name}_size = sizeof(${name});
")
endfunction()

file(READ ${PAGE} page)
get_filename_component(name ${HEADER} NAME_WE)
include_part(STYLE ${STYLES})
include_part(SCRIPT ${SCRIPTS})
string(FIND "${page}" @DATA@ at)
if(at LESS 0)
	message(FATAL_ERROR "${PAGE}: no @DATA@")
endif()
string(SUBSTRING "${page}" 0 ${at} head)
math(EXPR at "${at} + 6")
string(SUBSTRING "${page}" ${at} -1 tail)
file(WRITE ${OUTPUT}.new "/* Made by commands/report/embed.cmake. */
#include \"${HEADER}\"

")
array(${name}_head "${head}")
array(${name}_tail "${tail}")
file(RENAME ${OUTPUT}.new ${OUTPUT})
