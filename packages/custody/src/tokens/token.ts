import type { AgentId } from '@market/kernel/ids'

export const TOKEN_MODES = ['token2022', 'pumpfun'] as const

/** `token2022`: launched by the agent's server wallet. `pumpfun`: launched elsewhere and registered by the owner. */
export type TokenMode = (typeof TOKEN_MODES)[number]

export interface Token {
  readonly agentId: AgentId
  readonly mint: string
  readonly name: string
  readonly symbol: string
  readonly mode: TokenMode
  readonly creatorWallet: string
  readonly imageUrl: string | null
  readonly description: string | null
  readonly txHash: string | null
  readonly createdAt: Date
}

export interface TokenSettings {
  /** Appended to the name of every token. */
  readonly tokenSuffix: string
}

/** Characters as users count them. */
const characters = (text: string): string[] =>
  [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)

const MAX_NAME = 32
/** A mint stores its name as bytes, and pays rent for each of them. */
const MAX_NAME_BYTES = 96

/** The platform's suffix is appended unless the name has it. What is too long is cut off the name, not the suffix. */
export function withSuffix(name: string, suffix: string): string {
  if (name.endsWith(suffix)) return shorten(name)
  const left = MAX_NAME - suffix.length
  return `${shorten(name, left, MAX_NAME_BYTES - Buffer.byteLength(suffix)).trimEnd()}${suffix}`
}

/** The longest beginning that has at most so many characters and bytes, without cutting a character in two. */
export function shorten(text: string, maxLength = MAX_NAME, maxBytes = MAX_NAME_BYTES): string {
  let fitting = ''
  for (const character of characters(text)) {
    const next = fitting + character
    if ([...next].length > maxLength || Buffer.byteLength(next) > maxBytes) break
    fitting = next
  }
  return fitting
}
