import type { WalletFields } from '@market/contract/client'
import type { Operation } from '@market/contract/define'
import type { Context } from '@market/core/context'
import type { Wallet, WalletChain } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import type { Call } from './call.ts'
import type { SingleUse } from './caller.ts'

const SESSION = 'session'

/** Verifies a wallet's signature over the message of this request. */
export async function verifyWallet(
  ports: Pick<Context, 'signatures' | 'clock'>,
  call: Call,
  ownAgent: string | undefined,
): Promise<{ wallet: Wallet; singleUse?: SingleUse }> {
  const fields = call.credentials.wallet
  if (fields === undefined) throw new Error('verifyWallet needs wallet credentials')
  const { wallet: named, signature, signedAtMs } = parseWalletFields(ports, fields)
  const purpose = purposeOf(call.operation, call.input, ownAgent)
  const proof = { wallet: named, signature, signedAtMs }
  const provenBy = await ports.signatures.verify(proof, purpose, ports.clock.wallTime())
  const wallet = { ...named, provenBy }
  return purpose === SESSION ? { wallet } : { wallet, singleUse: { wallet, purpose, signature, signedAtMs } }
}

/** Replaces `{field}` with the value of the request as it was sent, in NFC like GET /api/auth/message. */
function purposeOf(operation: Operation, input: Call['input'], ownAgent: string | undefined): string {
  return (operation.purpose ?? SESSION).replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = field === 'me' ? ownAgent : input[field]
    if (typeof value === 'number') return String(value)
    return typeof value === 'string' ? value.normalize('NFC') : ''
  })
}

/** Parses the fields without verifying the signature. */
export function parseWalletFields(ports: Pick<Context, 'signatures'>, fields: WalletFields) {
  const { wallet, signature, chain } = fields
  const signedAtMs =
    typeof fields.signedAtMs === 'string' ? parseDigits(fields.signedAtMs) : fields.signedAtMs
  if (chain !== undefined && chain !== 'solana' && chain !== 'base')
    throw invalidField('wallet_chain', 'must be solana or base')
  if (typeof wallet !== 'string' || wallet.length > 64)
    throw invalidField('wallet', 'must be a wallet address')
  if (typeof signature !== 'string' || signature.length > 20_000)
    throw invalidField('wallet_sig', 'must be a signature')
  if (typeof signedAtMs !== 'number')
    throw invalidField('wallet_sig_ts', 'must be the Unix time in milliseconds from the signed message')
  const parsed = ports.signatures.parseWallet(wallet, chain as WalletChain | undefined)
  if (parsed === undefined) throw invalidField('wallet', 'must be an address that can sign, on wallet_chain')
  return { wallet: parsed, signature, signedAtMs }
}

const parseDigits = (text: string): number | undefined => (/^\d{1,16}$/.test(text) ? Number(text) : undefined)

const invalidField = (path: string, message: string): ApiError =>
  new ApiError('unauthenticated', `${path} ${message}`, {
    code: 'bad_wallet_fields',
    details: [{ path, message }],
  })
