import { transact } from '@market/database/transact'
import { earlier, HOUR, later, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { Refusal } from '@market/kernel/refusal'
import { isAwaited } from '../orders/index.ts'
import { findPayment } from '../payments/index.ts'
import type { SeenTransfer } from '../ports/chain.ts'
import { refuseWhileStopped } from '../switches/index.ts'
import type { HireAnswer } from './answers.ts'
import type { Carrier } from './carrier.ts'
import { fulfil } from './fulfil.ts'
import type { Binding, HireIn } from './hire.ts'
import { type BuyContext, isSameRequest, type Offer, type Shown } from './offer.ts'
import { judgeReference } from './payment-reference.ts'
import type { Quote } from './quote.ts'
import { usedAlready } from './refusals.ts'
import { claimHire, findHire, isSettlement, lockHire, saveDone } from './store.ts'
import { takeOver } from './take-over.ts'
import { patiently } from './wait.ts'

type Sent = Extract<Carrier, { kind: 'transaction' }>

/** A payment that is older was made for something else. */
const OLDEST_MS = 1 * HOUR
const CLOCK_SLACK_MS = 1 * MINUTE
/** Above this whoever asks must show that they are who paid: everybody can read a transaction's hash. */
const MOST_UNBOUND = usdc(25_000_000n)

/** The spec's own way: the buyer has paid and names the transaction. It buys one thing, whoever asks. */
export async function buySent(ctx: BuyContext, offer: Offer, sent: Sent, shown: Shown): Promise<HireAnswer> {
  const { network } = sent
  const reference = ctx.chains[network]?.normalize(sent.reference) ?? sent.reference
  const key = { network, kind: 'transaction', proof: reference } as const
  const known = await findHire(ctx.db, key)
  if (known?.state === 'done') return (await takeOver(ctx, offer, known, shown)) ?? replay(known, offer)
  if (await isSettlement(ctx.db, network, reference)) throw usedAlready()

  const quote = await offer.quote()
  if (!quote.ways.some((way) => way.network === network))
    return { kind: 'quote', quote, error: `This cannot be paid on ${network}` }
  const seen = await look(ctx, quote, { network, reference }, shown)
  if (typeof seen === 'string') return { kind: 'quote', quote, error: seen }
  if (seen === undefined)
    return { kind: 'quote', quote, error: 'transaction_not_found_yet', retryAfterSeconds: 3 }
  const binding = bind(ctx, quote, seen, shown)
  if (!isBinding(binding)) return { kind: 'quote', quote, error: binding }
  // An order of a buyer who is known waits for it, or its payer has shown once that it was another's.
  const isDoubtful = known !== undefined || (await isAwaited(ctx.db, network, reference))
  if (binding === 'none' && isDoubtful) throw usedAlready()

  const now = ctx.clock.now()
  const done = await transact(ctx.db, async (tx) => {
    await refuseWhileStopped(tx, ['read_only', 'freeze_intake'])
    const claimed = await claimHire(
      tx,
      {
        ...{ ...key, ...offer.purchase, id: ctx.ids.next('hir'), binding, payer: seen.payer, due: quote.due },
        ...{ state: 'claimed', leaseUntil: later(now, MINUTE), createdAt: now },
      },
      now,
    )
    if (claimed === undefined) return undefined
    const resultId = await fulfil(ctx, tx, claimed, seen).catch(asUsed)
    await saveDone(tx, claimed.id, { reference, payer: seen.payer, resultId }, now)
    return lockHire(tx, claimed.id)
  })
  if (done?.state === 'done') return { kind: 'done', hire: done, isReplay: false }
  const other = await findHire(ctx.db, key)
  if (other?.state === 'done') return replay(other, offer)
  throw usedAlready()
}

function replay(hire: HireIn<'done'>, { purchase }: Offer): HireAnswer {
  if (!isSameRequest(hire, purchase)) throw usedAlready()
  return { kind: 'done', hire, isReplay: true }
}

/** The transfer, undefined while it may still come, or the word for why it will not do. */
async function look(
  ctx: BuyContext,
  { due }: Quote,
  { network, reference }: Sent | { network: Sent['network']; reference: string },
  { payer }: Shown,
): Promise<SeenTransfer | string | undefined> {
  const now = ctx.clock.now()
  try {
    return await patiently(() =>
      findPayment(ctx, network, {
        reference,
        atLeast: due,
        notBefore: earlier(now, OLDEST_MS),
        notAfter: later(now, CLOCK_SLACK_MS),
        sentByPayer: true,
        ...(payer !== undefined && { payers: [payer] }),
      }),
    )
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'invalid') return error.extra.code ?? error.message
    throw error
  }
}

const BINDINGS: readonly string[] = ['none', 'reference', 'payer'] satisfies Binding[]
const isBinding = (word: string): word is Binding => BINDINGS.includes(word)

/** How the payment is bound to who asks, or the word for why it must be. */
function bind(ctx: BuyContext, quote: Quote, seen: SeenTransfer, shown: Shown): string {
  if (seen.payer === null) return 'payer_unknown'
  const verdict = judgeReference(ctx, seen, quote, shown.claim)
  if (verdict === 'bound') return 'reference'
  if (verdict !== 'unbound') return verdict
  if (shown.payer !== undefined) return 'payer'
  // What was paid for something else would hardly be this very amount; that it was not is shown within the hour.
  return quote.due > MOST_UNBOUND || seen.amount !== quote.due ? 'binding_required' : 'none'
}

/** The books know the transfer as the payment of something else. */
function asUsed(error: unknown): never {
  const code = error instanceof Refusal ? error.extra.code : undefined
  throw code === 'transfer_used' || code === 'already_paid' ? usedAlready() : error
}
