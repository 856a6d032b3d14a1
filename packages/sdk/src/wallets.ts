/** A wallet that signs texts: it proves who calls, and is no payment. */
export interface WalletSigner {
  readonly address: string
  readonly chain: 'base' | 'solana'
  /** The signature as the API takes it: hex for EVM, base58 for Solana. */
  readonly signText: (text: string) => Promise<string>
}

/** What a viem account has: `privateKeyToAccount`, or `toAccount` of another signer. */
export interface EvmAccount {
  readonly address: string
  readonly signMessage: (parameters: { readonly message: string }) => Promise<string>
}

/** A viem account, for example of `privateKeyToAccount`. */
export const evmWallet = (account: EvmAccount): WalletSigner => ({
  address: account.address,
  chain: 'base',
  signText: (message) => account.signMessage({ message }),
})

/**
 * A Solana keypair: the 64 bytes of a keypair file, as bytes, as the list of numbers in the file, or in base58, or a
 * pair of Web Crypto keys.
 */
export type SolanaKeypair = Uint8Array | readonly number[] | string | KeyPair

type Key = Parameters<typeof crypto.subtle.exportKey>[1]

interface KeyPair {
  readonly publicKey: Key
  readonly privateKey: Key
}

export async function solanaWallet(keypair: SolanaKeypair): Promise<WalletSigner> {
  const { publicKey, privateKey } = await readKeypair(keypair)
  const address = base58(new Uint8Array(await crypto.subtle.exportKey('raw', publicKey)))
  return {
    address,
    chain: 'solana',
    signText: async (text) =>
      base58(new Uint8Array(await crypto.subtle.sign('Ed25519', privateKey, new TextEncoder().encode(text)))),
  }
}

export async function readKeypair(keypair: SolanaKeypair): Promise<KeyPair> {
  if (typeof keypair === 'object' && 'privateKey' in keypair) return keypair
  const bytes = typeof keypair === 'string' ? bytesOfBase58(keypair) : Uint8Array.from(keypair)
  if (bytes.length !== 64)
    throw new TypeError(
      `A Solana keypair has 64 bytes, not ${bytes.length}. Pass the whole content of the keypair file.`,
    )
  // PKCS #8 of a 32-byte Ed25519 seed begins with these bytes.
  const pkcs8 = Uint8Array.from([...PKCS8_ED25519, ...bytes.slice(0, 32)])
  const [privateKey, publicKey] = await Promise.all([
    crypto.subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign']),
    crypto.subtle.importKey('raw', bytes.slice(32), 'Ed25519', true, ['verify']),
  ])
  return { privateKey, publicKey }
}

const PKCS8_ED25519 = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32]

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

export function base58(bytes: Uint8Array): string {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  let text = ''
  for (; number > 0n; number /= 58n) text = ALPHABET.charAt(Number(number % 58n)) + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text
}

function bytesOfBase58(text: string): Uint8Array {
  let number = 0n
  for (const character of text) {
    const digit = ALPHABET.indexOf(character)
    if (digit === -1) throw new TypeError('A Solana keypair as text must be base58.')
    number = number * 58n + BigInt(digit)
  }
  const bytes: number[] = []
  for (; number > 0n; number /= 256n) bytes.unshift(Number(number % 256n))
  const zeros = text.length - text.replace(/^1+/, '').length
  return Uint8Array.from([...new Array(zeros).fill(0), ...bytes])
}
