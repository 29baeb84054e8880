/* Recognises the files that commands write: no other file is replaced. */
#ifndef COMMANDS_BASE_OUTPUT_FORMAT_H
#define COMMANDS_BASE_OUTPUT_FORMAT_H

#include "debugger/base/new_file.h"

extern const struct file_format output_format_page,           /* HTML pages of report and profile */
	output_format_dot,                                    /* async graph */
	output_format_metrics,                                /* Prometheus */
	output_format_json_trace, output_format_json_profile, /* one document, or lines */
	output_format_text_trace, output_format_text_profile, output_format_perfetto,
	output_format_folded, /* stacks of flame graphs */
	output_format_pprof;

#endif
