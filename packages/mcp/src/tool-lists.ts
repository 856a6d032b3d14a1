import { randomUUID } from 'node:crypto'
import { toolList } from '@market/contract/tools'
import { ANONYMOUS_TOOLS } from './anonymous-tools.ts'

/**
 * The lists of tools, serialized once: one is over 100 KB, and anybody may ask for it. The protocol's library gets one
 * small tool in their place, which no other text can contain.
 */
const serialized = (tools: readonly unknown[]) => {
  const inPlace = { name: randomUUID(), inputSchema: { type: 'object' as const } }
  const listBytes = Buffer.from(JSON.stringify(tools).slice(1, -1))
  return { tools: [inPlace], inPlaceJson: JSON.stringify(inPlace), listBytes }
}

export const UNIFIED_LIST = serialized(toolList())
export const ANONYMOUS_LIST = serialized(ANONYMOUS_TOOLS)

/** The response with the tools where the library wrote what stands in their place. Their bytes are copied, not encoded again. */
export function withTools(response: string): string | Buffer {
  const list = [UNIFIED_LIST, ANONYMOUS_LIST].find(({ inPlaceJson }) => response.includes(inPlaceJson))
  if (list === undefined) return response
  const [first = '', ...others] = response.split(list.inPlaceJson)
  return Buffer.concat([Buffer.from(first), ...others.flatMap((text) => [list.listBytes, Buffer.from(text)])])
}
