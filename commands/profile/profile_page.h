/*
 * The page of a profile without its data: commands/profile/profile.html with its styles and
 * scripts, embedded at build time by commands/report/embed.cmake.
 */
#ifndef COMMANDS_PROFILE_PROFILE_PAGE_H
#define COMMANDS_PROFILE_PROFILE_PAGE_H

#include <stddef.h>

/* The parts of the page before and after the data. */
extern const char profile_page_head[], profile_page_tail[];
extern const size_t profile_page_head_size, profile_page_tail_size;

#endif
