/**
 * Stored format of a sealed value, version 1:
 *
 *   1 byte     version
 *   1 byte     length n of the key id
 *   n bytes    id of the key-encryption key
 *   60 bytes   data key wrapped by it: iv 12, tag 16, ciphertext 32
 *   the rest   value under the data key: iv 12, tag 16, ciphertext
 *
 * Both layers are AES-256-GCM. The wrapped data key is bound to the version and the key id, the value to
 * the version, the row and the field.
 */
export interface SealedParts {
  readonly keyId: string
  readonly wrapped: Buffer
  readonly body: Buffer
}

export const SEALED_VERSION = 1
export const IV_BYTES = 12
export const TAG_BYTES = 16
export const KEY_BYTES = 32
const WRAPPED_BYTES = IV_BYTES + TAG_BYTES + KEY_BYTES
const HEAD_BYTES = 2

/** Prefixes every part with its length, so that different lists never give the same bytes. */
export function aadOf(version: number, ...parts: readonly string[]): Buffer {
  const pieces = parts.flatMap((part) => {
    const bytes = Buffer.from(part, 'utf8')
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat([Buffer.of(version), ...pieces])
}

export function encodeSealed({ keyId, wrapped, body }: SealedParts): Buffer {
  const id = Buffer.from(keyId, 'ascii')
  return Buffer.concat([Buffer.of(SEALED_VERSION, id.length), id, wrapped, body])
}

export function parseSealed(sealed: Buffer): SealedParts {
  if (sealed[0] !== SEALED_VERSION) throw new Error('sealed value: unknown version')
  const wrappedAt = HEAD_BYTES + (sealed[1] ?? 0)
  const bodyAt = wrappedAt + WRAPPED_BYTES
  if (sealed.length < bodyAt + IV_BYTES + TAG_BYTES) throw new Error('sealed value: too short')
  return {
    keyId: sealed.toString('latin1', HEAD_BYTES, wrappedAt),
    wrapped: sealed.subarray(wrappedAt, bodyAt),
    body: sealed.subarray(bodyAt),
  }
}
