import { assert } from '@market/kernel/assert'
import { parseSync } from 'rolldown/utils'
import type { RemovedFix } from './removed-fix.ts'

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value

/** Every node in a node or a list of nodes, each before those inside it. */
export function* nodesIn(value: unknown): Generator<Node> {
  if (isNode(value)) yield value
  if (isNode(value) || Array.isArray(value)) for (const one of Object.values(value)) yield* nodesIn(one)
}

export function parse(code: string) {
  const { program, comments, errors } = parseSync('source.ts', code)
  assert(errors.length === 0, errors.map(({ message }) => message).join('; '))
  return { program, comments }
}

const MARKER = /^ fix: (\S+)$/

/** The names of the markers, and where each comment ends. */
export const markersIn = (code: string) =>
  parse(code).comments.flatMap(({ type, value, end }) => {
    const name = type === 'Line' ? MARKER.exec(value)?.[1] : undefined
    return name === undefined ? [] : [{ name, end }]
  })

const COMMENTS = /^(?:\s|\/\/.*)*/

/** The largest statement, property or element that begins after the marker. */
function markedNode(code: string, markerEnd: number): Node {
  const [skipped = ''] = COMMENTS.exec(code.slice(markerEnd)) ?? []
  const begins = markerEnd + skipped.length
  const largest = nodesIn(parse(code).program.body).find(({ start }) => start === begins)
  assert(largest !== undefined, 'a statement, property or element follows the marker')
  return largest
}

/** The field of a node that has its value. */
const VALUES: Readonly<Record<string, string>> = {
  IfStatement: 'test',
  ReturnStatement: 'argument',
  ThrowStatement: 'argument',
  ExpressionStatement: 'expression',
  ExportNamedDeclaration: 'declaration',
  VariableDeclaration: 'declarations',
  VariableDeclarator: 'init',
  ArrowFunctionExpression: 'body',
  FunctionDeclaration: 'body',
  Property: 'value',
}

/** What `to` replaces. */
function replacedIn(node: Node): Node {
  const field = VALUES[node.type]
  if (field === undefined) return node
  const [value] = [(node as unknown as Record<string, unknown>)[field]].flat()
  assert(isNode(value), `${node.type} has a value`)
  return replacedIn(value)
}

/** Whether it is an expression in a list of statements. The statement before would call a parenthesis that follows it. */
function isListed(code: string, { type, start }: Node): boolean {
  if (type !== 'ExpressionStatement') return false
  const { program } = parse(code)
  return [program, ...nodesIn(program.body)].some((node) =>
    Object.values(node).some(
      (list) =>
        Array.isArray(list) && list.some((one) => isNode(one) && one.start === start && one.type === type),
    ),
  )
}

/** The source without the fix; the same source when it does not have the marker. */
export function removeFix(code: string, { marker, to }: Pick<RemovedFix, 'marker' | 'to'>): string {
  const [found, ...others] = markersIn(code).filter(({ name }) => name === marker)
  if (found === undefined) return code
  assert(others.length === 0, `${marker} marks one place`)
  const node = markedNode(code, found.end)
  const { type, start, end } = to === undefined ? node : replacedIn(node)
  const [before, after] = [code.slice(0, start), code.slice(end)]
  if (to !== undefined && type === 'BlockStatement') return `${before}{ ${to} }${after}`
  if (to !== undefined) return `${before}${isListed(code, node) ? ';' : ''}(${to})${after}`
  // An if without braces needs a statement.
  return node.type.endsWith('Statement') ? `${before};${after}` : `${before}${after.replace(/^\s*,/, '')}`
}
