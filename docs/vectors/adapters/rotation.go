// go build rotation.go && posenc vectors run -- ./rotation
// SPDX-License-Identifier: MIT
package main

import (
	"encoding/json"
	"math"
	"os"
)

type question struct {
	ID    string
	Input struct {
		X, Positions, Frequencies json.RawMessage
		RotaryD                   json.RawMessage `json:"rotary_d"`
		Layout                    string
		Base                      float64
	}
}

func rope(x [][]float64, positions []float64, base float64) {
	for n, row := range x {
		half := len(row) / 2
		for i := 0; i < half; i++ {
			sin, cos := math.Sincos(positions[n] * math.Pow(base, -float64(i)/float64(half)))
			a, b := row[i], row[i+half]
			row[i], row[i+half] = a*cos-b*sin, a*sin+b*cos
		}
	}
}

func main() {
	questions, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var asked question
		if questions.Decode(&asked) != nil {
			return
		}
		var x [][]float64
		var positions []float64
		in := asked.Input
		bad := json.Unmarshal(in.X, &x) != nil || json.Unmarshal(in.Positions, &positions) != nil
		bad = bad || in.RotaryD != nil || in.Frequencies != nil
		switch {
		case asked.ID == "":
			answers.Encode(map[string]any{"suites": []string{"rotation"}, "contract": "float64"})
		case bad || in.Layout != "half":
			answers.Encode(map[string]any{"id": asked.ID, "unsupported": "only whole heads, in halves"})
		default:
			rope(x, positions, in.Base)
			if answers.Encode(map[string]any{"id": asked.ID, "ok": x}) != nil { // NaN
				answers.Encode(map[string]any{"id": asked.ID, "refused": "no number"})
			}
		}
	}
}
