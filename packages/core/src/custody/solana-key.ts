import { generateKeyPairSync } from 'node:crypto'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Base58 with the Bitcoin alphabet, as in Solana addresses. Each leading zero byte becomes a `1`. */
export function base58(bytes: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
  let digits = ''
  while (number > 0n) {
    digits = ALPHABET[Number(number % 58n)] + digits
    number /= 58n
  }
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + digits
}

/** A random Ed25519 key. The address is the public key; the secret is the 32-byte seed. */
export function newSolanaKey(): { address: string; seed: Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const publicBytes = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  const seed = privateKey.export({ type: 'pkcs8', format: 'der' }).subarray(-32)
  return { address: base58(publicBytes), seed }
}
