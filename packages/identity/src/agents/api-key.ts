import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Needs } from '@market/core/context'
import type { AgentId } from '@market/kernel/ids'
import { secretPlace } from './agent.ts'

export const API_KEY_PREFIX = 'market_'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_BYTES = 32
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const FORMAT = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`)

function base62(number: bigint, length: number): string {
  let text = ''
  for (let rest = number; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text
  return text.padStart(length, '0')
}

const checksumOf = (secret: string): string => base62(BigInt(crc32(secret)), CHECKSUM_LENGTH)

/** `market_` + 32 random bytes in base62 + a checksum. */
export function newApiKey(): string {
  const secret = base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_LENGTH)
  return `${API_KEY_PREFIX}${secret}${checksumOf(secret)}`
}

/** A new API key in clear, and the columns that store it. The key before is rejected from then on. */
export function sealedApiKey(ctx: Needs<'vault'>, id: AgentId) {
  const apiKey = newApiKey()
  const columns = {
    api_key_fingerprint: ctx.vault.fingerprint('api_key', apiKey),
    api_key_sealed: ctx.vault.seal(apiKey, secretPlace(id, 'api_key')),
    api_key_hint: hintOf(apiKey),
  }
  return { apiKey, columns }
}

/** Verifies the checksum, so that mistyped and guessed keys are rejected without a query. */
export function isApiKey(text: string): boolean {
  if (!FORMAT.test(text)) return false
  const secret = text.slice(API_KEY_PREFIX.length, -CHECKSUM_LENGTH)
  return checksumOf(secret) === text.slice(-CHECKSUM_LENGTH)
}

export const hintOf = (apiKey: string): string => apiKey.slice(-4)

export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64url')}`
