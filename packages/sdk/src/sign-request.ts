import type { WalletSigner } from './wallets.ts'

type Fields = Readonly<Record<string, unknown>>

/** A signature as a request has it. Written here, because the published types import nothing of the contract. */
interface WalletFields {
  readonly wallet: string
  readonly signature: string
  readonly signedAtMs: number
  readonly chain: string
}

/** The message that `GET /api/auth/message` returns. */
interface SignableMessage {
  readonly message: string
  readonly wallet_sig_ts: number
  readonly expires_at: string
}

export type ReadMessage = (wallet: string, chain: string, purpose: string) => Promise<SignableMessage>

/** The purpose of a request: `{field}` is filled from its input, `{me}` with the caller's own agent. */
export const fillPurpose = (purpose: string, input: Fields, me: string): string =>
  purpose.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = field === 'me' ? me : input[field]
    if (typeof value === 'number') return String(value)
    return typeof value === 'string' ? value.normalize('NFC') : ''
  })

const SESSION = 'session'

/** Signatures of reads can be repeated for five minutes; they are replaced a minute before. */
const SPARE_MS = 60_000

const ACCOUNTS = { base: 'Ethereum', solana: 'Solana' } as const

/** Whether the text signs in to this site, with this wallet and for this purpose only. */
function isExpected(text: string, site: string, { address, chain }: WalletSigner, purpose: string): boolean {
  const lines = text.split('\n')
  const [title, wallet = ''] = lines
  const startingWith = (start: string) => lines.filter((line) => line.startsWith(start))
  const isOnly = (start: string, value: string) =>
    startingWith(start).length === 1 && startingWith(start)[0] === `${start} ${value}`
  return (
    title === `${new URL(site).host} wants you to sign in with your ${ACCOUNTS[chain]} account:` &&
    // The API writes EVM addresses with the capital letters of their checksum.
    (chain === 'base' ? wallet.toLowerCase() === address.toLowerCase() : wallet === address) &&
    isOnly('URI:', site) &&
    isOnly('Request ID:', purpose) &&
    lines.at(-1) === `Request ID: ${purpose}`
  )
}

export type RequestSigner = (
  signer: WalletSigner,
  purpose: string,
  signsAnew?: boolean,
) => Promise<WalletFields>

/**
 * Signs requests with wallets. Every write gets a signature of its own, because it counts once. `site` is the origin that
 * the texts name.
 */
export function requestSigner(readMessage: ReadMessage, site: string): RequestSigner {
  const sessions = new Map<string, { readonly fields: WalletFields; readonly expiresAt: number }>()
  return async (signer, purpose, signsAnew = false) => {
    const kept = purpose === SESSION && !signsAnew ? sessions.get(signer.address) : undefined
    if (kept !== undefined && kept.expiresAt - SPARE_MS > Date.now()) return kept.fields
    const { message, wallet_sig_ts, expires_at } = await readMessage(signer.address, signer.chain, purpose)
    // Otherwise a server could have a text signed that allows something else, or signs in to another site.
    if (!isExpected(message, site, signer, purpose))
      throw new TypeError(
        `The text to sign is not for ${purpose} at ${site}. Nothing was signed. Check apiUrl, and set site when the API has another public origin.`,
      )
    const fields = {
      wallet: signer.address,
      signature: await signer.signText(message),
      signedAtMs: wallet_sig_ts,
      chain: signer.chain,
    }
    if (purpose === SESSION) sessions.set(signer.address, { fields, expiresAt: Date.parse(expires_at) })
    return fields
  }
}
