"""Sample 4: the editor crashed while it wrote. One file is cut, one is garbage, and the history holds odd blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator

from samples.recorder import Model, Recorder, Style
from samples.workspace import Workspace, read, replace, run, write

from ctxviewer.tokens import TokenCounter

TASK = "Port the build of the floor plan editor from webpack to Vite. The old bundle names in index.html must keep working."

MODEL = Model("gpt-4.1", "openai-native", 1_047_576, 12_032, (2, 8, 0, 0.5), native=True)
STYLE = Style("3.38.1", "1.106.2", model_info=True, split_results=False)

WEBPACK = """const path = require("node:path");
const MiniCssExtractPlugin = require("mini-css-extract-plugin");

module.exports = (env, { mode }) => ({
  entry: { editor: "./src/editor.tsx", viewer: "./src/viewer.tsx" },
  output: {
    path: path.resolve(__dirname, "dist"),
    filename: "js/[name].bundle.js",
    assetModuleFilename: "assets/[hash][ext]",
    clean: true,
  },
  resolve: { extensions: [".tsx", ".ts", ".js"], alias: { "@plan": path.resolve(__dirname, "src/plan") } },
  module: {
    rules: [
      { test: /\\.tsx?$/, use: "ts-loader", exclude: /node_modules/ },
      { test: /\\.css$/, use: [MiniCssExtractPlugin.loader, "css-loader", "postcss-loader"] },
      { test: /\\.(svg|png|woff2)$/, type: "asset/resource" },
      { test: /\\.glsl$/, type: "asset/source" },
    ],
  },
  plugins: [new MiniCssExtractPlugin({ filename: "css/[name].css" })],
  devtool: mode === "production" ? "source-map" : "eval-source-map",
  devServer: { port: 4100, proxy: [{ context: ["/api"], target: "http://localhost:8080" }] },
});
"""

PACKAGE = """{
  "name": "floor-plan-editor",
  "private": true,
  "scripts": {
    "start": "webpack serve --mode development",
    "build": "webpack --mode production",
    "test": "jest",
    "types": "tsc --noEmit"
  },
  "dependencies": { "react": "^19.1.0", "react-dom": "^19.1.0", "zustand": "^5.0.5" },
  "devDependencies": {
    "css-loader": "^7.1.2",
    "jest": "^30.0.0",
    "mini-css-extract-plugin": "^2.9.2",
    "postcss-loader": "^8.1.1",
    "ts-loader": "^9.5.2",
    "typescript": "^5.8.3",
    "webpack": "^5.99.9",
    "webpack-cli": "^6.0.1",
    "webpack-dev-server": "^5.2.2"
  }
}
"""

INDEX = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Floor plan editor</title>
    <link rel="stylesheet" href="/css/editor.css">
  </head>
  <body>
    <main id="editor"></main>
    <script src="/js/editor.bundle.js" defer></script>
  </body>
</html>
"""

VITE = """import { defineConfig } from "vite";
import react from "@vitejs/plugin-react";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@plan": new URL("./src/plan", import.meta.url).pathname } },
  build: {
    sourcemap: true,
    rollupOptions: {
      input: { editor: "index.html", viewer: "viewer.html" },
      output: {
        entryFileNames: "js/[name].bundle.js",
        assetFileNames: (asset) => (asset.names[0]?.endsWith(".css") ? "css/[name][extname]" : "assets/[hash][extname]"),
      },
    },
  },
  server: { port: 4100, proxy: { "/api": "http://localhost:8080" } },
});
"""

FILES = {"webpack.config.js": WEBPACK, "package.json": PACKAGE, "index.html": INDEX}


def play(counter: TokenCounter) -> Recorder:
    """The whole task, before the crash."""
    space = Workspace("/Users/mara/code/floorplan", dict(FILES))
    task = Recorder(1762430400000, MODEL, STYLE, space, counter)
    task.begin(TASK)
    task.turn("What does the present build do?", read(space, "webpack.config.js"))
    task.turn("The scripts and dependencies.", read(space, "package.json"))
    task.turn("And the page that loads the bundles.", read(space, "index.html"))
    task.turn(
        "Here is the same build for Vite, with the old names of the bundles.", write(space, "vite.config.ts", VITE)
    )
    task.turn(
        "Scripts and dependencies follow.",
        replace(
            space,
            "package.json",
            ('"start": "webpack serve --mode development"', '"start": "vite"'),
            ('"build": "webpack --mode production"', '"build": "vite build"'),
            (
                '    "webpack": "^5.99.9",\n    "webpack-cli": "^6.0.1",\n    "webpack-dev-server": "^5.2.2"\n',
                '    "vite": "^7.0.0"\n',
            ),
        ),
    )
    task.turn("Vite wants a module script.", replace(space, "index.html", (
        '<script src="/js/editor.bundle.js" defer></script>', '<script type="module" src="/src/editor.tsx"></script>')))  # fmt: skip
    task.turn(
        "Building.",
        run("npm run build", "vite v7.0.0 building for production...\n✓ 214 modules transformed.\n"
            "[plan/floor.glsl] Could not load: no loader for .glsl\nBuild failed in 1.93s"),
        took=15_000,
    )  # fmt: skip
    task.turn(
        "Shaders were imported as text. Vite does that with `?raw`.",
        run("grep -rl '\\.glsl' src", "src/plan/floor.ts\nsrc/plan/walls.ts\nsrc/plan/shadow.ts"),
    )
    task.turn("I read the page again before I change the imports.", read(space, "index.html"))
    task.turn("And the configuration, as it stands now.", read(space, "vite.config.ts"))
    task.turn(
        "Instead of changing every import I teach the build what a shader is.",
        replace(
            space, "vite.config.ts", ("  plugins: [react()],", '  plugins: [react()],\n  assetsInclude: ["**/*.glsl"],')
        ),
    )
    task.turn(
        "Building again.",
        run("npm run build", "vite v7.0.0 building for production...\n✓ 219 modules transformed.\n"
            "dist/js/editor.bundle.js  412.18 kB │ gzip: 131.02 kB\ndist/css/editor.css        28.40 kB │ gzip:   6.11 kB\n"
            "✓ built in 2.20s"),
        took=15_000,
    )  # fmt: skip
    task.turn("The bundle names are the old ones. The viewer page still needs a look.", read(space, "package.json"))
    task.turn(
        "Types next.", run("npm run types", "src/plan/floor.ts(3,22): error TS2307: Cannot find module './floor.glsl'.")
    )
    return task


def files_after_the_crash(task: Recorder) -> Iterator[tuple[str, str]]:
    """The files as the crash left them."""
    for name, text in task.files():
        if name == "ui_messages.json":
            # The process died while this file was written: it ends inside a string.
            yield name, text[: text.rindex("Shaders were imported as text") + 23]
        elif name == "api_conversation_history.json":
            yield name, _with_odd_blocks(text)
        else:
            yield name, text
    yield "context_history.json", '[[1,[0,[[0,[[1762430411000,"text",["[NOTE] Older mess'
    yield f"api_conversation_history.json.tmp.{task.task_id + 250_000}.k3x9.json", '[{"role":"user","content":[{"ty'


def _with_odd_blocks(text: str) -> str:
    """One result lost its call, one call its result, and an emoji was cut in half by a length limit."""
    messages = json.loads(text)
    del messages[8]["content"][0]
    messages[12]["content"][0]["tool_use_id"] = "toolu_of_another_task"
    half = messages[16]["content"][0]["content"][0]
    half["text"] += "\n\U0001f6a7"
    dumped = json.dumps(messages, ensure_ascii=False, separators=(",", ":"))
    return dumped.replace("\U0001f6a7", "\\ud83d")
