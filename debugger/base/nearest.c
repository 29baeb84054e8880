#include "debugger/base/nearest.h"

#include <stdint.h>
#include <string.h>
#include <sys/param.h>

#include "debugger/base/str.h"

/*
 * The edit distance: the number of letters to change, delete, insert or swap with a neighbour to
 * turn a into b. Words longer than any command name have the maximal distance.
 */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	enum { LONGEST = 31 };
	size_t d[LONGEST + 1][LONGEST + 1];

	if (na > LONGEST || nb > LONGEST)
		return SIZE_MAX;
	for (size_t i = 0; i <= na; i++) {
		for (size_t j = 0; j <= nb; j++) {
			if (i == 0 || j == 0) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = MIN(MIN(d[i - 1][j], d[i][j - 1]) + 1,
			              d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[na][nb];
}

bool nearest_offer(struct nearest *n, const char *word, size_t len)
{
	size_t typed = strlen(n->typed);
	size_t is = distance(n->typed, typed, word, len);
	size_t unlike = typed > len ? typed - len : len - typed;

	if (is > typed / 3 + 1 || is >= len)
		return false;
	if (n->distance && (is > n->distance || (is == n->distance && unlike >= n->unlike)))
		return false;
	n->distance = is;
	n->unlike = unlike;
	return true;
}

struct error *nearest_error(const char *problem, const char *typed, const char *const *names,
                            const char *const *shown, size_t n)
{
	struct nearest nearest = { .typed = typed };
	const char *best = NULL;
	STR(list);

	if (!shown)
		shown = names;
	for (size_t i = 0; i < n; i++) {
		if (nearest_offer(&nearest, names[i], strlen(names[i])))
			best = shown[i];
		str_printf(&list, "%s%s", i ? ", " : "", shown[i]);
	}
	if (best)
		return error_new(ERR_USAGE, "%s \"%s\": did you mean %s?", problem, typed, best);
	return error_new(ERR_USAGE, "%s \"%s\": there are %s", problem, typed, str_text(&list));
}
