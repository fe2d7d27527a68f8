// Damerau-Levenshtein distance (optimal string alignment) over short names.

#include "ir/base/suggest.h"

#include "ir/base/foreign.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 63 };

// Return the smaller of two numbers.
static int least(int a, int b)
{
    return a < b ? a : b;
}

// Return the distance of two names of at most LONGEST characters.
static int distance(const char *a, int n, const char *b, int m)
{
    int d[LONGEST + 1][LONGEST + 1];
    for (int i = 0; i <= n; i++)
        d[i][0] = i;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++) {
        for (int j = 1; j <= m; j++) {
            int same = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least(same, 1 + least(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

// Put a candidate into the sorted list; the last one may fall out.
static void insert(struct suggest *s, const char *name, int dist)
{
    int at = s->n < SUGGEST_MOST ? s->n++ : SUGGEST_MOST - 1;
    for (; at > 0 && s->distance[at - 1] > dist; at--) {
        s->names[at] = s->names[at - 1];
        s->distance[at] = s->distance[at - 1];
    }
    s->names[at] = name;
    s->distance[at] = dist;
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    int n = (int)strnlen(s->wanted, LONGEST + 1);
    int m = (int)strnlen(candidate, LONGEST + 1);
    if (n > LONGEST || m > LONGEST)
        return;
    int most = n / 3 > 1 ? n / 3 : 1;
    bool is_case = strcasecmp(s->wanted, candidate) == 0;
    int dist = is_case ? 0 : distance(s->wanted, n, candidate, m);
    if (dist > most || (dist >= n && !is_case))
        return;
    for (int i = 0; i < s->n; i++) {
        if (strcmp(s->names[i], candidate) == 0)
            return;
    }
    if (s->n < SUGGEST_MOST || dist < s->distance[SUGGEST_MOST - 1])
        insert(s, candidate, dist);
}

bool suggest_any(const struct suggest *s)
{
    return s->n > 0;
}

void suggest_text(const struct suggest *s, char *out, size_t size)
{
    static const char *const between[SUGGEST_MOST][SUGGEST_MOST] = {
        {"", "", ""}, {"", " or ", ""}, {"", ", ", " or "}};
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < s->n && used < size; i++) {
        int n = snprintf(out + used, size - used, "%s`%s`",
                         between[s->n - 1][i], s->names[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

bool suggest_help(struct diag_list *diags, const struct suggest *s)
{
    char text[256];
    const char *own = foreign_help(FOREIGN_WORD, s->wanted);
    suggest_text(s, text, sizeof text);
    if (own)
        diag_help(diags, "%s", own);
    else if (suggest_any(s))
        diag_help(diags, "did you mean %s?", text);
    return false;
}
