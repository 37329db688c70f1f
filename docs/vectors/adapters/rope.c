/* Rotary positions, ALiBi and Shaw's index in C, as a program that answers the test vectors.

     cc -O2 -o rope docs/vectors/adapters/rope.c -lm
     python -m posenc vectors run -- ./rope

   It reads no JSON library: a line is searched for its keys. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

/* What stands after "key": in a line, or NULL. */
static const char *after(const char *line, const char *key) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"%s\": ", key);
  const char *found = strstr(line, wanted);
  return found ? found + strlen(wanted) : NULL;
}

static double number(const char *line, const char *key, double missing) {
  const char *found = after(line, key);
  return found ? strtod(found, NULL) : missing;
}

/* The numbers of an array, however nested; depth is how deeply, width the length of the last axis. */
static int numbers(const char *line, const char *key, double *into, int *depth, int *width) {
  const char *at = after(line, key);
  int count = 0, level = 0, last = 0;
  *depth = *width = 0;
  for (; at && *at && count < MOST; at++) {
    if (*at == '[') {
      last = count;
      if (++level > *depth) *depth = level;
    } else if (*at == ']') {
      if (level == *depth && !*width) *width = count - last;
      if (--level == 0) break;
    } else if (*at != ',' && *at != ' ') {
      char *end;
      into[count++] = strtod(at, &end);
      at = end - 1;
    }
  }
  return count;
}

/* Rotate the first `part` dimensions of each of `count` vectors that are d wide. */
static void rotate(double *x, int count, int d, int part, const double *positions,
                   const double *omega, double base, int half) {
  for (int n = 0; n < count; n++)
    for (int i = 0; i < part / 2; i++) {
      double *a = x + n * d + (half ? i : 2 * i), *b = half ? a + part / 2 : a + 1;
      double angle = positions[n] * (omega ? omega[i] : pow(base, -2.0 * i / part));
      double first = *a, second = *b;
      *a = first * cos(angle) - second * sin(angle);
      *b = first * sin(angle) + second * cos(angle);
    }
}

static void rotation(const char *line) {
  static double x[MOST], positions[MOST], omega[MOST];
  int depth, d, deep, length, pairs, unused;
  int count = numbers(line, "x", x, &depth, &d);
  int places = numbers(line, "positions", positions, &deep, &length);
  int given = (pairs = numbers(line, "frequencies", omega, &unused, &unused)) > 0;
  double part = number(line, "rotary_d", d), base = number(line, "base", 10000);
  int half = strstr(line, "\"layout\": \"half\"") != NULL;
  if (depth > 3) { printf("\"unsupported\": \"only (batch, length, d)\"}\n"); return; }
  if (d % 2 || (int)part % 2 || part > d || base <= 0 || (given && pairs != part / 2) ||
      (!half && !strstr(line, "\"layout\": \"interleaved\"")) || places * d != count) {
    printf("\"refused\": \"the widths, the layout, the base or the positions\"}\n");
    return;
  }
  rotate(x, places, d, (int)part, positions, given ? omega : NULL, base, half);
  printf("\"ok\": %s", depth == 3 ? "[" : "");
  for (int n = 0; n < count; n++)
    printf("%s%.17g%s", n % (length * d) == 0 ? (n ? ", [[" : "[[") : n % d ? ", " : ", [", x[n],
           (n + 1) % (length * d) == 0 ? "]]" : (n + 1) % d ? "" : "]");
  printf("%s}\n", depth == 3 ? "]" : "");
}

static void alibi(const char *line) {
  double heads = number(line, "heads", 0);
  int below = 1;
  if (heads < 1 || heads != floor(heads)) { printf("\"refused\": \"heads\"}\n"); return; }
  while (2 * below <= heads) below *= 2;
  for (int h = 0; h < heads; h++)
    printf("%s%.17g", h ? ", " : "\"ok\": [",
           pow(2, h < below ? -8.0 * (h + 1) / below : -4.0 * (2 * (h - below) + 1) / below));
  printf("]}\n");
}

static void shaw(const char *line) {
  double queries = number(line, "query_length", 0), keys = number(line, "key_length", 0);
  double far = number(line, "max_distance", -1);
  if (far < 0 || far != floor(far) || queries < 0) { printf("\"refused\": \"lengths\"}\n"); return; }
  printf("\"ok\": [");
  for (int q = 0; q < queries; q++)
    for (int k = 0; k < keys; k++)
      printf("%s%.0f%s", k ? ", " : q ? ", [" : "[", fmin(fmax(k - q, -far), far) + far,
             k + 1 < keys ? "" : "]");
  printf("]}\n");
}

int main(void) {
  static char line[1 << 20];
  while (fgets(line, sizeof line, stdin)) {
    const char *id = after(line, "id"), *suite = after(line, "suite");
    if (!suite) printf("{\"suites\": [\"rotation\", \"alibi\", \"shaw\"], \"contract\": \"float64\"}\n");
    else {
      printf("{\"id\": %.*s, ", (int)strcspn(id, ","), id);
      if (!strncmp(suite, "\"rotation\"", 10)) rotation(line);
      else if (!strncmp(suite, "\"alibi\"", 7)) alibi(line);
      else shaw(line);
    }
    fflush(stdout);
  }
}
