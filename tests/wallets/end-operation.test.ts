import { advanceWalletTransaction, type SignerContext } from '@market/custody/wallets'
import { unavailable } from '@market/kernel/api-error'
import { HOUR, MINUTE } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approveAs, decideByTwo, proposeAs } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { auditOf } from '../support/treasury.ts'
import { until } from '../support/until.ts'
import {
  callsOf,
  lamportsOf,
  makeWalletAgent,
  newAddress,
  SOL,
  signerContext,
  startWalletMarket,
  transactionsOf,
  type WalletAgent,
  type WalletMarket,
} from './wallet-market.ts'

const KIND = 'end_wallet_operation'

let world: WalletMarket
beforeAll(async () => {
  world = await startWalletMarket({ RESULT_WAIT_MS: '0' })
})
afterAll(() => world.market.stop())

const operationOf = async ({ id }: WalletAgent) =>
  world.market.db
    .selectFrom('wallet_transactions')
    .select(['id', 'status', 'failure', 'reference'])
    .where('agent_id', '=', id)
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow()

type Signer = NonNullable<SignerContext['walletSigner']>

const contextWith = (signer: Partial<Signer>): SignerContext => {
  const ctx = signerContext(world)
  return { ...ctx, walletSigner: { ...ctx.walletSigner, ...signer } }
}

/** Nodes that do not have the blocks since the signature: they neither finish the operation nor prove that it is dead. */
const pruned: Partial<Signer> = { observe: async () => ({ kind: 'unknown' }) }
const lost: Partial<Signer> = { ...pruned, send: async () => undefined }

const noHistory: Partial<Signer> = {
  find: async () => {
    throw unavailable('A Solana node does not have the history')
  },
}

/** A send of a quarter that was signed. */
async function stuckSend(signer: Partial<Signer>) {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  await callsOf(world, agent).send({ asset: 'SOL', to, amount: 0.25 })
  const { id } = await operationOf(agent)
  const ctx = contextWith(signer)
  await advanceWalletTransaction(ctx, id as `wop_${string}`)
  expect((await operationOf(agent)).status).toBe('signed')
  return { agent, to, id, advance: () => advanceWalletTransaction(ctx, id as `wop_${string}`) }
}

/** Waits until the chain has passed the last height of the newest transaction. */
const untilExpired = (id: string) =>
  until('the transaction has expired', async () => {
    const { last_valid_height } = await world.market.db
      .selectFrom('outgoing_transactions')
      .select('last_valid_height')
      .where('action_id', '=', id)
      .orderBy('n', 'desc')
      .executeTakeFirstOrThrow()
    return (await signerContext(world).walletSigner.finalHeight()) > (last_valid_height ?? 0n)
  })

const failed = (operation_id: string) => ({ operation_id, outcome: 'failed' })

test('failed: frees the wallet when two operators end a transfer that the nodes cannot prove dead', async () => {
  const { agent, to, id, advance } = await stuckSend(lost)
  await untilExpired(id)
  rejected(await proposeAs(world.market, KIND, failed(id)), 409, 'conflict')
  await world.market.advance(HOUR + MINUTE)
  const proposed = await proposeAs(world.market, KIND, failed(id))
  expect(proposed.status).toBe(201)
  const { summary, subject } = proposed.body.data
  expect(subject).toBe(id)
  expect(summary).toContain(
    `end the wallet operation ${id} (send of 0.25 SOL to ${to}) as failed, without any effect. At final height `,
  )
  expect(summary).toMatch(/the nodes show: [1-9A-HJ-NP-Za-km-z]{12}… not_found$/)
  await advance()
  expect((await operationOf(agent)).status).toBe('signed')
  expect((await approveAs(world.market, proposed.body.data.id)).status).toBe(200)
  await advance()
  expect(await operationOf(agent)).toMatchObject({ status: 'failed', failure: 'ended_by_operators' })
  expect(await transactionsOf(world, agent.wallet)).toEqual([])
  expect(await lamportsOf(world, agent.wallet)).toBe(SOL)
  expect((await callsOf(world, agent).send({ asset: 'SOL', to, amount: 0.25 })).status).toBe(202)
  expect(await auditOf(world.market.db, agent.id)).toContainEqual({
    act: 'wallets.end_approved',
    actor: expect.stringMatching(/^user:/),
    details: { operation_id: id, outcome: 'failed', reference: null, approval: proposed.body.data.id },
  })
  rejected(await proposeAs(world.market, KIND, failed(id)), 409, 'conflict')
})

test('failed: an approval does not end a transfer that can still be executed', async () => {
  const { agent, id, advance } = await stuckSend({ ...lost, finalHeight: async () => 0n })
  await untilExpired(id)
  await world.market.advance(HOUR + MINUTE)
  expect((await decideByTwo(world.market, KIND, failed(id))).status).toBe(200)
  await advance()
  expect((await operationOf(agent)).status).toBe('signed')
})

test('failed: what the nodes show by then counts more than what two operators decided', async () => {
  const { agent, id } = await stuckSend(lost)
  await untilExpired(id)
  await world.market.advance(HOUR + MINUTE)
  expect((await decideByTwo(world.market, KIND, failed(id))).status).toBe(200)
  const { reference: signed } = await world.market.db
    .selectFrom('outgoing_transactions')
    .select('reference')
    .where('action_id', '=', id)
    .executeTakeFirstOrThrow()
  const final = contextWith({ observe: async () => ({ kind: 'final', reference: signed }) })
  await advanceWalletTransaction(final, id as `wop_${string}`)
  expect(await operationOf(agent)).toMatchObject({ status: 'done', reference: signed })
})

test('failed: nothing is signed again after two operators decided', async () => {
  const { agent, id } = await stuckSend(lost)
  await untilExpired(id)
  await world.market.advance(HOUR + MINUTE)
  expect((await decideByTwo(world.market, KIND, failed(id))).status).toBe(200)
  const expired = contextWith({ ...lost, observe: async () => ({ kind: 'expired' }) })
  await advanceWalletTransaction(expired, id as `wop_${string}`)
  expect(await operationOf(agent)).toMatchObject({ status: 'failed', failure: 'ended_by_operators' })
  expect(await transactionsOf(world, agent.wallet)).toEqual([])
})

test('done: records the transaction that took effect, and failed is rejected while the nodes show it', async () => {
  const { agent, to, id, advance } = await stuckSend(pruned)
  await until('the payee has it', async () => (await lamportsOf(world, to)) === SOL / 4n)
  await untilExpired(id)
  await world.market.advance(HOUR + MINUTE)
  const reply = await proposeAs(world.market, KIND, failed(id))
  rejected(reply, 409, 'conflict')
  expect(reply.body.error).toContain('is final, so it cannot be ended in this way')
  const [sent] = await transactionsOf(world, agent.wallet)
  const tx_signature = sent?.signature ?? ''
  const decided = await decideByTwo(world.market, KIND, { operation_id: id, outcome: 'done', tx_signature })
  expect(decided.body.data.summary).toContain(`as done by ${tx_signature}, which the database signed. `)
  await advance()
  expect(await operationOf(agent)).toMatchObject({ status: 'done', reference: tx_signature })
})

test('nodes without the history of a wallet: an operation that nothing was signed for is ended', async () => {
  const agent = await makeWalletAgent(world)
  await callsOf(world, agent).send({ asset: 'SOL', to: await newAddress(), amount: 0.25 })
  const { id } = await operationOf(agent)
  // As if an earlier database had made the wallet.
  await world.market.db
    .updateTable('agent_wallets')
    .set({ database_epoch: 'earlier' })
    .where('agent_id', '=', agent.id)
    .execute()
  const advance = () => advanceWalletTransaction(contextWith(noHistory), id as `wop_${string}`)
  await until('the horizon is final', async () => {
    try {
      await advance()
      return false
    } catch (error) {
      return String(error).includes('history')
    }
  })
  await world.market.advance(HOUR + MINUTE)
  const decided = await decideByTwo(world.market, KIND, failed(id))
  expect(decided.body.data.summary).toMatch(/the nodes show: no signed transaction$/)
  await advance()
  expect(await operationOf(agent)).toMatchObject({ status: 'failed', failure: 'ended_by_operators' })
})

test('400 and 404: a transaction without done, done without a transaction, and an unknown operation', async () => {
  const operation_id = `wop_1700000000000_${'0'.repeat(17)}`
  const tx_signature = 'F'.repeat(88)
  for (const payload of [
    { operation_id, outcome: 'done' },
    { operation_id, outcome: 'failed', tx_signature },
  ])
    invalid(await proposeAs(world.market, KIND, payload), 'payload.tx_signature')
  rejected(await proposeAs(world.market, KIND, failed(operation_id)), 404, 'not_found')
})
