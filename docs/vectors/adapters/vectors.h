/* Reads questions of the test vectors and writes answers, in C and C++, without a JSON library.
   SPDX-License-Identifier: MIT */

#ifndef VECTORS_H
#define VECTORS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS_LINE = 1 << 20, VECTORS_MOST = 4096, VECTORS_AXES = 8 };

/* What stands after "key": in a line, or NULL. */
static inline const char *vectors_after(const char *line, const char *key) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"%s\": ", key);
  const char *found = strstr(line, wanted);
  return found ? found + strlen(wanted) : NULL;
}

/* Whether a text, without its quotation marks, stands after "key":. */
static inline int vectors_is(const char *line, const char *key, const char *text) {
  const char *found = vectors_after(line, key);
  size_t size = strlen(text);
  return found && *found == '"' && !strncmp(found + 1, text, size) && found[size + 1] == '"';
}

/* The number after "key":, or another if the line has no such key. */
static inline double vectors_number(const char *line, const char *key, double missing) {
  const char *found = vectors_after(line, key);
  return found ? strtod(found, NULL) : missing;
}

/* Puts the numbers of an array, however nested, into `into`, which has room for VECTORS_MOST; the
   lengths of its axes into `shape`, which has room for VECTORS_AXES, and their number into `axes`.
   Returns how many numbers there are. */
static inline int vectors_numbers(const char *line, const char *key, double *into, int *axes,
                                  int *shape) {
  const char *at = vectors_after(line, key);
  int count = 0, level = 0, own[VECTORS_AXES] = {0};
  *axes = 0;
  for (; at && *at && count < VECTORS_MOST; at++) {
    if (*at == '[') {
      if (level == VECTORS_AXES) break;
      own[level++] = 0;
      if (level > *axes) shape[(*axes)++] = -1;
    } else if (*at == ']') {
      if (shape[--level] < 0) shape[level] = own[level];
      if (!level) break;
      own[level - 1]++;
    } else if (*at != ',' && *at != ' ') {
      char *end;
      into[count++] = strtod(at, &end);
      if (end == at || !level) break;
      own[level - 1]++;
      at = end - 1;
    }
  }
  return count;
}

/* Reads the next line, VECTORS_LINE long, answers it if it asks for capabilities, and returns
   whether there is a question. `suites` is a JSON array, as in "[\"rotation\"]". */
static inline int vectors_question(char *line, const char *suites, const char *contract) {
  while (fgets(line, VECTORS_LINE, stdin)) {
    if (vectors_after(line, "suite")) return 1;
    printf("{\"suites\": %s, \"contract\": \"%s\"}\n", suites, contract);
    fflush(stdout);
  }
  return 0;
}

static inline void vectors_begin(const char *line) {
  const char *id = vectors_after(line, "id");
  printf("{\"id\": %.*s, ", (int)strcspn(id, ","), id);
}

static inline void vectors_end(void) {
  printf("}\n");
  fflush(stdout);
}

static inline void vectors_unsupported(const char *line, const char *why) {
  vectors_begin(line);
  printf("\"unsupported\": \"%s\"", why);
  vectors_end();
}

static inline void vectors_refused(const char *line, const char *why) {
  vectors_begin(line);
  printf("\"refused\": \"%s\"", why);
  vectors_end();
}

/* Writes numbers as a nested array, and returns what follows them. */
static inline const double *vectors_write(const double *x, int axes, const int *shape) {
  if (!axes) {
    if (isnan(*x)) printf("\"NaN\"");
    else if (isinf(*x)) printf(*x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    else printf("%.17g", *x);
    return x + 1;
  }
  for (int n = 0; n < *shape; n++) {
    printf(n ? ", " : "[");
    x = vectors_write(x, axes - 1, shape + 1);
  }
  printf(*shape ? "]" : "[]");
  return x;
}

/* Answers with an array of some shape. */
static inline void vectors_ok(const char *line, const double *x, int axes, const int *shape) {
  vectors_begin(line);
  printf("\"ok\": ");
  vectors_write(x, axes, shape);
  vectors_end();
}

#endif
