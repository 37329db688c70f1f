// c++ -O2 -std=c++17 -o rotation rotation.cpp && posenc vectors run -- ./rotation
// SPDX-License-Identifier: MIT
#include "vectors.h"
#include <cmath>
#include <string>
#include <vector>

struct Array { std::vector<double> values; std::vector<int> shape; };

Array array(const std::string &line, const char *key) {
  std::vector<double> values(VECTORS_MOST);
  std::vector<int> shape(VECTORS_AXES);
  int axes;
  values.resize(vectors_numbers(line.c_str(), key, values.data(), &axes, shape.data()));
  shape.resize(axes);
  return {values, shape};
}

void rope(Array &x, const Array &positions, double base) {
  const int length = x.shape[0], d = x.shape[1];
  for (int n = 0; n < length; n++)
    for (int i = 0; i < d / 2; i++) {
      const double angle = positions.values[n] * std::pow(base, -2.0 * i / d);
      double &a = x.values[n * d + i], &b = x.values[n * d + i + d / 2], first = a;
      a = first * std::cos(angle) - b * std::sin(angle);
      b = first * std::sin(angle) + b * std::cos(angle);
    }
}

int main() {
  std::string line(VECTORS_LINE, '\0');
  while (vectors_question(line.data(), "[\"rotation\"]", "float64")) {
    Array x = array(line, "x"), positions = array(line, "positions");
    const bool more = vectors_after(line.c_str(), "rotary_d") || vectors_after(line.c_str(), "frequencies");
    if (x.shape.size() > 2 || more || !vectors_is(line.c_str(), "layout", "half")) {
      vectors_unsupported(line.c_str(), "only whole heads, in halves, without a batch");
      continue;
    }
    rope(x, positions, vectors_number(line.c_str(), "base", 10000));
    vectors_ok(line.c_str(), x.values.data(), x.shape.size(), x.shape.data());
  }
}
