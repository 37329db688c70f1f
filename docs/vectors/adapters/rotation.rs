// rustc -O rotation.rs && posenc vectors run -- ./rotation
// SPDX-License-Identifier: MIT
use std::io::{self, BufRead, Write};

fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_once(&format!("\"{key}\": ")).map(|(_, rest)| rest)
}

/// The numbers of an array up to where it closes, however nested.
fn numbers(line: &str, key: &str) -> Vec<f64> {
    let rest = after(line, key).unwrap_or("");
    let end = rest.find(", \"").unwrap_or(rest.len());
    rest[..end].split(|c| "[]{}, ".contains(c)).filter_map(|word| word.parse().ok()).collect()
}

fn rope(x: &mut [f64], positions: &[f64], base: f64) {
    let d = x.len() / positions.len();
    for (row, position) in x.chunks_mut(d).zip(positions) {
        for i in 0..d / 2 {
            let (sin, cos) = (position * base.powf(-2.0 * i as f64 / d as f64)).sin_cos();
            let (a, b) = (row[i], row[i + d / 2]);
            (row[i], row[i + d / 2]) = (a * cos - b * sin, a * sin + b * cos);
        }
    }
}

fn answer(line: &str) -> String {
    let Some(id) = after(line, "id").and_then(|rest| rest.split(',').next()) else {
        return r#"{"suites": ["rotation"], "contract": "float64"}"#.into();
    };
    let half = after(line, "layout").is_some_and(|rest| rest.starts_with("\"half\""));
    let more = line.contains("\"rotary_d\"") || line.contains("\"frequencies\"");
    if !half || more || line.contains("[[[") {
        return format!(r#"{{"id": {id}, "unsupported": "only whole heads, in halves"}}"#);
    }
    let (mut x, positions) = (numbers(line, "x"), numbers(line, "positions"));
    rope(&mut x, &positions, numbers(line, "base").first().copied().unwrap_or(10000.0));
    let rows: Vec<_> = x.chunks(x.len() / positions.len()).map(|row| format!("{row:?}")).collect();
    format!(r#"{{"id": {id}, "ok": [{}]}}"#, rows.join(", "))
}

fn main() {
    for line in io::stdin().lock().lines() {
        println!("{}", answer(&line.unwrap()));
        io::stdout().flush().unwrap();
    }
}
