import { randomUUID } from 'node:crypto'
import { toolList } from '@market/contract/tools'
import { ANONYMOUS_TOOLS } from './anonymous-tools.ts'

/**
 * The lists of tools, serialized once: one is over 100 KB, and anybody may ask for it. The protocol's library gets one
 * small tool in their place, which no other text can contain.
 */
const serialized = (tools: readonly unknown[]) => {
  const inPlace = { name: randomUUID(), inputSchema: { type: 'object' as const } }
  const listJson = JSON.stringify(tools).slice(1, -1)
  return { tools: [inPlace], inPlaceJson: JSON.stringify(inPlace), listJson }
}

export const UNIFIED_LIST = serialized(toolList())
export const ANONYMOUS_LIST = serialized(ANONYMOUS_TOOLS)

/** The response with the tools where the library wrote what stands in their place. */
export const withTools = (response: string): string =>
  [UNIFIED_LIST, ANONYMOUS_LIST].reduce(
    (text, { inPlaceJson, listJson }) => text.split(inPlaceJson).join(listJson),
    response,
  )
