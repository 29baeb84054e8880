/*
 * The page of a report without its data: commands/report/page.html with its styles and
 * scripts in it, as the build put them together (commands/report/embed.cmake).
 */
#ifndef COMMANDS_REPORT_REPORT_PAGE_H
#define COMMANDS_REPORT_REPORT_PAGE_H

#include <stddef.h>

/* What stands before the data, and what behind it. */
extern const char report_page_head[], report_page_tail[];
extern const size_t report_page_head_size, report_page_tail_size;

#endif
