import { existsSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/** Reads a stack trace of the bundle from standard input and names the source files instead. */
const BIN = fileURLToPath(new URL('../dist/bin/', import.meta.url))
const ROOT = dirname(dirname(BIN))
const LOCATION = /(?:file:\/\/)?[^\s("]*\/bin\/([\w.-]+\.mjs):(\d+):(\d+)/g

const maps = new Map<string, SourceMap>()

function mapOf(name: string): SourceMap | undefined {
  const file = join(BIN, `${name}.map`)
  if (!maps.has(name) && existsSync(file))
    maps.set(name, new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload))
  return maps.get(name)
}

const mapped = (await text(process.stdin)).replace(LOCATION, (location, name: string, line, column) => {
  const origin = mapOf(name)?.findOrigin(Number(line), Number(column))
  if (origin === undefined || !('fileName' in origin)) return location
  const source = relative(ROOT, join(BIN, origin.fileName))
  return `${source}:${origin.lineNumber}:${origin.columnNumber}`
})
process.stdout.write(mapped)
