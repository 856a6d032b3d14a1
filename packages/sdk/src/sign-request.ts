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

export type RequestSigner = (
  signer: WalletSigner,
  purpose: string,
  signsAnew?: boolean,
) => Promise<WalletFields>

/** Signs requests with wallets. Every write gets a signature of its own, because it counts once. */
export function requestSigner(readMessage: ReadMessage): RequestSigner {
  const sessions = new Map<string, { readonly fields: WalletFields; readonly expiresAt: number }>()
  return async (signer, purpose, signsAnew = false) => {
    const kept = purpose === SESSION && !signsAnew ? sessions.get(signer.address) : undefined
    if (kept !== undefined && kept.expiresAt - SPARE_MS > Date.now()) return kept.fields
    const { message, wallet_sig_ts, expires_at } = await readMessage(signer.address, signer.chain, purpose)
    // Otherwise a server could have a text signed that allows something else.
    if (!message.split('\n').includes(`Request ID: ${purpose}`))
      throw new TypeError(`The text to sign is not for ${purpose}. Check apiUrl.`)
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
