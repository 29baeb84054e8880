/*
 * The page of a report without its data: commands/report/page.html with its styles and scripts,
 * embedded at build time by commands/report/embed.cmake.
 */
#ifndef COMMANDS_REPORT_REPORT_PAGE_H
#define COMMANDS_REPORT_REPORT_PAGE_H

#include <stddef.h>

/* The parts of the page before and after the data. */
extern const char report_page_head[], report_page_tail[];
extern const size_t report_page_head_size, report_page_tail_size;

#endif
