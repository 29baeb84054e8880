# The full screen of `top` needs ncurses. Without it top prints frames of text, and says so.

pkg_check_modules(NCURSES ncursesw)
if(NCURSES_FOUND)
	set(SCREEN_UNUSED commands/top/top_screen_none.c)
	set(SCREEN_LINK_LIBRARIES ${NCURSES_LINK_LIBRARIES})
	if(ASYNCDBG_STATIC)
		set(SCREEN_LINK_LIBRARIES ncursesw tinfo)
	endif()
else()
	message(WARNING "Without the full screen of top: it needs ncurses")
	set(SCREEN_UNUSED commands/top/top_screen.c)
	set(SCREEN_LINK_LIBRARIES)
endif()
