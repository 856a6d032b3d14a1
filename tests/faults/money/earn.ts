import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isTrueWithin } from '../../support/until.ts'
import type { ClientResponse } from './client.ts'
import type { Environment } from './environment.ts'
import { acknowledge, isDone, type RunContext } from './order-actions.ts'
import { usd } from './sellers.ts'
import type { Prepared } from './test-chain.ts'
import type { TestOrder } from './test-order.ts'

/** Requests of Earn, which are not steps of an order. */
export const EARN_ACTIONS = ['deposit', 'withdraw'] as const

/** What the borrowers of the vault pay for its money, once. */
export const INTEREST = 7_654_321n

const POLL_MS = 400
const ACTIVE_WITHIN_MS = 20_000
const LENT_WITHIN_MS = 5_000
const READ_WITHIN_MS = 15_000
/** Codes of a pool that has no new reading of its venue. */
const NOT_NOW = ['not_depositable', 'pool_paused']

/** Names a transfer for a deposit, and again while the pool takes none. */
export async function depositTransfer(
  { client }: RunContext,
  testOrder: TestOrder,
  { reference }: Prepared,
): Promise<ClientResponse | undefined> {
  const { buyer, deposit } = testOrder
  const deadline = performance.now() + READ_WITHIN_MS
  for (;;) {
    const key = randomUUID()
    const answer = await acknowledge(testOrder, 'deposit', {
      key,
      reference,
      sending: client.send({
        method: 'POST',
        path: '/api/earn/pool/deposit',
        caller: { wallet: buyer },
        purpose: `earn.deposit:${reference}`,
        key,
        body: { amount_usd: usd(deposit?.amount ?? 0n), incoming_tx_hash: reference },
      }),
    })
    if (!NOT_NOW.includes(answer?.body.code ?? '') || performance.now() > deadline) return answer
    await wait(POLL_MS)
  }
}

/** Whether the deposit has shares, polling for a while. */
export const isActive = (
  { client }: RunContext,
  { buyer }: TestOrder,
  withinMs = ACTIVE_WITHIN_MS,
): Promise<boolean> =>
  isTrueWithin(
    withinMs,
    async () => {
      const answer = await client.send({
        method: 'GET',
        path: '/api/earn/pool/positions',
        caller: { wallet: buyer },
      })
      return (answer?.body.data ?? []).length > 0
    },
    POLL_MS,
  )

/** Burns all shares of the buyer. */
export async function withdrawAll(
  { client }: RunContext,
  testOrder: TestOrder,
  { isEarly }: { readonly isEarly: boolean },
): Promise<void> {
  const { buyer, deposit } = testOrder
  const key = randomUUID()
  const answer = await acknowledge(testOrder, 'withdraw', {
    key,
    sending: client.send({
      method: 'POST',
      path: '/api/earn/pool/withdraw',
      caller: { wallet: buyer },
      purpose: 'earn.withdraw:::',
      key,
      body: { all: true },
    }),
  })
  // 202: the shares may be burned later.
  if (isDone(answer) && answer?.status === 200 && deposit !== undefined) deposit.hasLeftEarly = isEarly
}

/** Borrowers take most of what the vault has, so that it cannot be withdrawn. A reorganization may undo it. */
export async function lendOut({ vault, evm }: Environment): Promise<void> {
  const held = (await evm[0]?.chain.balanceOf(vault.address)) ?? 0n
  if (held === 0n) return
  await Promise.race([vault.borrow((held * 9n) / 10n).catch(() => undefined), wait(LENT_WITHIN_MS)])
}

/** The borrowers repay with interest. Then every second depositor who is left withdraws. */
export async function leaveLater(
  { vault }: Environment,
  context: RunContext,
  testOrders: readonly TestOrder[],
): Promise<void> {
  const depositors = testOrders.filter(({ deposit }) => deposit !== undefined && !deposit.hasLeftEarly)
  const hasShares = (await vault.sharesOf(context.app.venueWallet)) > 0n
  const debt = await vault.debt()
  if (hasShares || debt > 0n) await vault.repay(debt, hasShares ? INTEREST : 0n)
  await Promise.all(
    depositors
      .filter((_, n) => n % 2 === 0)
      .map(async (one) => {
        if (await isActive(context, one, 0)) await withdrawAll(context, one, { isEarly: false })
      }),
  )
}
