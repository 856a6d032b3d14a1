import type { WalletFields } from '@market/contract/client'
import { sessionKindOf } from '@market/identity/sessions'
import { ApiError } from '@market/kernel/api-error'
import type { AppServices } from './app-services.ts'
import { authorize } from './authorize.ts'
import type { Call, Credentials } from './call.ts'
import type { Caller } from './caller.ts'
import { withSignatureBudget } from './chain-budget.ts'
import { asApiError } from './failure.ts'
import { identify } from './identify.ts'
import { parseWalletFields } from './verify-wallet.ts'

export interface Buyer {
  /** Who the purchase is for. */
  readonly caller: Caller
  /** The signature that is to prove the payer. */
  readonly payer: WalletFields | undefined
}

/**
 * Identifies who buys. A wallet signs either for the order, as without a payment, or for a transfer that it made.
 * `payerPurpose` is what it signs for the transfer; undefined when the request names none.
 */
export async function identifyBuyer(
  app: AppServices,
  call: Call,
  payerPurpose: string | undefined,
): Promise<Buyer> {
  const { operation } = call
  const credentials = withoutWalletSession(call.credentials)
  const { wallet, ...others } = credentials
  const charged = withSignatureBudget(app, call)
  const authorized = async (given: Credentials) => {
    const caller = await identify(charged, app.operators, { ...call, credentials: given })
    if (caller.actor.kind !== 'anonymous') authorize(operation, caller.actor)
    return caller
  }
  const forPayer = async () => ({ caller: await authorized(others), payer: wallet })
  if (wallet !== undefined && payerPurpose !== undefined && (await isSignedByKey(app, wallet, payerPurpose)))
    return forPayer()
  try {
    // fix: signature-beside-payment
    const caller = await authorized(credentials)
    return { caller, payer: caller.actor.kind === 'anonymous' ? wallet : undefined }
  } catch (error) {
    const isPayers = payerPurpose !== undefined && asApiError(error)?.extra.code === 'bad_signature'
    if (wallet === undefined || !isPayers) throw error
    return forPayer()
  }
}

/** The session of a wallet only reads. The payment needs no other credential, so it is ignored. */
function withoutWalletSession({ cookieToken, ...others }: Credentials): Credentials {
  if (cookieToken === undefined || sessionKindOf(cookieToken) === 'wallet') return others
  return { ...others, cookieToken }
}

/** Whether the wallet's key signed for this purpose. No node is queried, so a smart wallet is not recognized. */
async function isSignedByKey(
  { signatures, clock }: AppServices,
  fields: WalletFields,
  purpose: string,
): Promise<boolean> {
  const proof = parseWalletFields({ signatures }, fields)
  const beforeQuery = () => Promise.reject(new ApiError('unauthenticated', 'Only keys are checked here'))
  return signatures.verify({ ...proof, beforeQuery }, purpose, clock.wallTime()).then(
    () => true,
    () => false,
  )
}
