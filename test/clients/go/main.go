// Says which Go clients there are, then makes their calls: a line of JSON in, a line of JSON out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

type gateway struct {
	URL   string `json:"url"`
	Key   string `json:"key"`
	Model string `json:"model"`
}

// arguments holds those of every task.
type arguments struct {
	Texts       []string `json:"texts"`
	Query       string   `json:"query"`
	Documents   []string `json:"documents"`
	TopN        int      `json:"topN"`
	Prompt      string   `json:"prompt"`
	Input       string   `json:"input"`
	Instruction string   `json:"instruction"`
}

type scored struct {
	Index int     `json:"index"`
	Score float64 `json:"score"`
}

type way struct {
	call string
	run  func(ctx context.Context, at gateway, with arguments) (any, error)
}

type client struct {
	name   string
	module string
	setUp  string
	remark string
	ways   map[string]way
	// lists gives the names of the models; nil where it has no call for them.
	lists func(ctx context.Context, at gateway, with arguments) (any, error)
}

var clients = []client{anthropicClient, cohereClient, googleClient, goOpenAIClient, ollamaClient, openAIClient}

type line struct {
	ID        int       `json:"id"`
	Client    string    `json:"client"`
	Task      string    `json:"task"`
	Gateway   gateway   `json:"gateway"`
	Arguments arguments `json:"arguments"`
}

func main() {
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(described()); err != nil {
		fail(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var asked line
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fail(err)
		}
		said := answer(asked)
		said["id"] = asked.ID
		if err := out.Encode(said); err != nil {
			fail(err)
		}
	}
}

func described() []map[string]any {
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			versions[module.Path] = strings.TrimPrefix(module.Version, "v")
		}
	}
	all := []map[string]any{}
	for _, one := range clients {
		ways := map[string]string{}
		for task, way := range one.ways {
			ways[task] = way.call
		}
		all = append(all, map[string]any{
			"name":     one.name,
			"versions": map[string]string{one.module: versions[one.module]},
			"setUp":    one.setUp,
			"remark":   one.remark,
			"ways":     ways,
			"lists":    one.lists != nil,
		})
	}
	return all
}

func answer(asked line) map[string]any {
	for _, one := range clients {
		if one.name != asked.Client {
			continue
		}
		run := one.ways[asked.Task].run
		if asked.Task == "models" {
			run = one.lists
		}
		result, err := run(context.Background(), asked.Gateway, asked.Arguments)
		if err != nil {
			return map[string]any{"error": err.Error()}
		}
		return map[string]any{"result": result}
	}
	return map[string]any{"error": "there is no client " + asked.Client}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
