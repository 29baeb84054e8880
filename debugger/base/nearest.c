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
	enum { LONGEST = 63 };
	unsigned char d[LONGEST + 1][LONGEST + 1];

	if (na > LONGEST || nb > LONGEST)
		return SIZE_MAX;
	for (size_t i = 0; i <= na; i++) {
		for (size_t j = 0; j <= nb; j++) {
			if (i == 0 || j == 0) {
				d[i][j] = (unsigned char)(i + j);
				continue;
			}
			int least = MIN(MIN(d[i - 1][j], d[i][j - 1]) + 1,
			                d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));

			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				least = MIN(least, d[i - 2][j - 2] + 1);
			d[i][j] = (unsigned char)least;
		}
	}
	return d[na][nb];
}

/* The difference of their lengths, which is the least distance, is seen at once. */
static bool is_near(const char *typed, const char *word, size_t len, size_t *is, size_t *unlike)
{
	size_t n = strlen(typed), most = n / 3 + 1;

	*unlike = n > len ? n - len : len - n;
	if (*unlike > most)
		return false;
	*is = distance(typed, n, word, len);
	return *is <= most && *is < len;
}

bool nearest_is_near(const char *typed, const char *word, size_t *letters, size_t *unlike)
{
	return is_near(typed, word, strlen(word), letters, unlike);
}

bool nearest_offer(struct nearest *n, const char *word, size_t len)
{
	size_t is, unlike;

	if (!is_near(n->typed, word, len, &is, &unlike))
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
	return error_new(ERR_USAGE, "%s \"%s\": use one of %s", problem, typed, str_text(&list));
}
