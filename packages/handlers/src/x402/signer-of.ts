import { createHash } from 'node:crypto'
import { ApiError } from '@market/kernel/api-error'
import type { PaymentCredential } from '@market/trade/x402'
import type { AppServices } from '../app-services.ts'
import { parseWalletFields } from '../verify-wallet.ts'
import type { HireCall } from './hire-call.ts'

interface Wanted {
  readonly credential: PaymentCredential | undefined
  readonly listingId: string
  readonly brief: string | undefined
}

/**
 * The wallet that signed for this very payment and purchase, by its key: who names a transaction may prove that they
 * made it. What a payer signed for us to send needs no second signature.
 */
export async function signerOf(
  app: Pick<AppServices, 'signatures' | 'clock'>,
  { wallet: fields }: Pick<HireCall, 'wallet'>,
  { credential, listingId, brief = '' }: Wanted,
): Promise<string | undefined> {
  if (fields === undefined || credential?.kind !== 'transaction') return undefined
  const { wallet, signature, signedAtMs } = parseWalletFields(app, fields)
  const words = createHash('sha256').update(brief.normalize('NFC').trim()).digest('hex')
  const purpose = `x402.pay:${credential.network}:${credential.reference}:${listingId}:${words}`
  const proof = { wallet, signature, signedAtMs, network: credential.network }
  await app.signatures.verify(proof, purpose, app.clock.now())
  if ((wallet.chain === 'solana') !== (credential.network === 'solana-mainnet'))
    throw new ApiError('invalid', `This wallet cannot have paid on ${credential.network}`, {
      code: 'wrong_payer',
    })
  return wallet.key
}
