// swiftc -O rotation.swift && posenc vectors run -- ./rotation
// SPDX-License-Identifier: MIT
import Foundation

func rope(_ x: [[Double]], _ positions: [Double], base: Double) -> [[Double]] {
  zip(x, positions).map { row, position in
    let half = row.count / 2
    var turned = row
    for i in 0..<half {
      let angle = position * pow(base, -Double(i) / Double(half))
      turned[i] = row[i] * cos(angle) - row[i + half] * sin(angle)
      turned[i + half] = row[i] * sin(angle) + row[i + half] * cos(angle)
    }
    return turned
  }
}

func answer(_ asked: [String: Any]) -> [String: Any] {
  guard let id = asked["id"], let input = asked["input"] as? [String: Any] else {
    return ["suites": ["rotation"], "contract": "float64"]
  }
  guard input["layout"] as? String == "half", input["rotary_d"] == nil, input["frequencies"] == nil,
    let x = input["x"] as? [[Double]], let positions = input["positions"] as? [Double]
  else { return ["id": id, "unsupported": "only whole heads, in halves, without a batch"] }
  return ["id": id, "ok": rope(x, positions, base: input["base"] as? Double ?? 10000)]
}

while let line = readLine() {
  let asked = try! JSONSerialization.jsonObject(with: Data(line.utf8)) as! [String: Any]
  let told = try! JSONSerialization.data(withJSONObject: answer(asked))
  print(String(decoding: told, as: UTF8.self))
  fflush(stdout)
}
