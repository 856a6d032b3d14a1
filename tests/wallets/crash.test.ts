import { generateKeyPairSync } from 'node:crypto'
import type { WalletSigner } from '@market/core/ports/agent-wallets'
import { advanceWalletTransaction, type SignerContext, startWithdrawDelays } from '@market/custody/wallets'
import { DAY } from '@market/kernel/clock'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import {
  callsOf,
  lamportsOf,
  makeWalletAgent,
  newAddress,
  signerContext,
  startWalletMarket,
  transactionsOf,
  type WalletAgent,
  type WalletMarket,
} from './wallet-market.ts'

let world: WalletMarket
beforeAll(async () => {
  world = await startWalletMarket()
})
afterAll(() => world.market.stop())

/** What a process that died would never do: everything after this promise. */
const dead = (): Promise<never> => new Promise(() => {})

type Step = (signer: WalletSigner, died: () => void) => Partial<WalletSigner>

/** The signer dies at a step. What it did before has reached the chain or the database. */
const STEPS: Readonly<Record<string, Step>> = {
  'before it signs': (_, died) => ({
    balances: () => {
      died()
      return dead()
    },
  }),
  'after it signed, before the signature is stored': (signer, died) => ({
    sign: async (seed, operation) => {
      await signer.sign(seed, operation)
      died()
      return dead()
    },
  }),
  'after the signature is stored, before it is sent': (_, died) => ({
    send: () => {
      died()
      return dead()
    },
  }),
  'after it sent, before it knows': (signer, died) => ({
    send: async (signed) => {
      await signer.send(signed)
      died()
      return dead()
    },
  }),
  'after the transaction is final, before it is recorded': (signer, died) => ({
    observe: async (signed) => {
      const outcome = await signer.observe(signed)
      if (outcome.kind !== 'final') return outcome
      died()
      return dead()
    },
  }),
}

interface Intent {
  /** Requests the operation of a new agent. */
  request(agent: WalletAgent, to: string): Promise<unknown>
  /** What must be true of the chain and the database at the end. */
  check(agent: WalletAgent, to: string): Promise<void>
}

const START = 1_000_000_000n
const AMOUNT = 0.25

const mintOf = async ({ id }: WalletAgent) => {
  const { body } = await world.market.client().get(`/api/agents/${id}`)
  return body.data.agent as { token_mint: string | null; identity_mint: string | null }
}

const INTENTS: Readonly<Record<string, Intent>> = {
  launch: {
    request: (agent) => callsOf(world, agent).launch(),
    check: async (agent) => expect((await mintOf(agent)).token_mint).not.toBeNull(),
  },
  identity: {
    request: (agent) => callsOf(world, agent).said(),
    check: async (agent) => expect((await mintOf(agent)).identity_mint).not.toBeNull(),
  },
  'send of SOL': {
    request: (agent, to) => callsOf(world, agent).send({ asset: 'SOL', to, amount: AMOUNT }),
    check: async (_, to) => expect(await lamportsOf(world, to)).toBe(START / 4n),
  },
  'withdrawal of USDC': {
    request: (agent) => callsOf(world, agent).withdraw({ asset: 'USDC', amount: AMOUNT }),
    check: async (agent, to) => {
      expect(await world.solana.usdc.balanceOf(to)).toBe(250_000n)
      expect(await world.solana.usdc.balanceOf(agent.wallet)).toBe(750_000n)
    },
  },
}

const operationOf = async ({ id }: WalletAgent) => {
  let found: { id: string; status: string } | undefined
  await until('the operation is requested', async () => {
    found = await world.market.db
      .selectFrom('wallet_transactions')
      .select(['id', 'status'])
      .where('agent_id', '=', id)
      .executeTakeFirst()
    return found !== undefined
  })
  return found as { id: `wop_${string}`; status: string }
}

/** Advances until the operation has ended. */
async function carryOut(ctx: SignerContext, agent: WalletAgent): Promise<void> {
  await until(
    'the operation has ended',
    async () => {
      const { id } = await operationOf(agent)
      await advanceWalletTransaction(ctx, id)
      return (await operationOf(agent)).status === 'done'
    },
    { everyMs: 100 },
  )
}

/** Advances with a signer that dies at the step. Resolves when it has died. */
async function dieAt(step: Step, agent: WalletAgent): Promise<void> {
  const ctx = signerContext(world)
  const { id } = await operationOf(agent)
  await new Promise<void>((resolve, reject) => {
    let isDead = false
    const died = () => {
      isDead = true
      resolve()
    }
    const walletSigner = { ...ctx.walletSigner, ...step(ctx.walletSigner, died) }
    const advance = async () => {
      while (!isDead) await advanceWalletTransaction({ ...ctx, walletSigner }, id)
    }
    advance().catch(reject)
  })
}

/** Agents whose owners set withdraw addresses a day ago. */
async function prepare() {
  const cells = Object.keys(STEPS).flatMap((step) => Object.keys(INTENTS).map((intent) => ({ step, intent })))
  const made = await Promise.all(
    cells.map(async (cell) => {
      const agent = await makeWalletAgent(world, { lamports: START, usdc: 1_000_000n })
      const to = await newAddress()
      await callsOf(world, agent).setAddress(to)
      return { ...cell, agent, to }
    }),
  )
  await startWithdrawDelays(signerContext(world))
  await world.market.advance(2 * DAY)
  return made
}

test('a signer that dies at any step of any operation: the next one ends it, and one transaction takes effect', async () => {
  const cells = await prepare()
  expect(cells).toHaveLength(20)
  await Promise.all(
    cells.map(async ({ step, intent, agent, to }) => {
      const { request, check } = INTENTS[intent] as Intent
      const requested = request(agent, to)
      await dieAt(STEPS[step] as Step, agent)
      await carryOut(signerContext(world), agent)
      await requested
      const effective = (await transactionsOf(world, agent.wallet)).filter(({ err }) => err === null)
      expect(effective, `${intent}: ${step}`).toHaveLength(1)
      await check(agent, to)
    }),
  )
})

test('a signer that dies while it exports: the next one exports once', async () => {
  const agent = await makeWalletAgent(world)
  const key = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }).x ?? ''
  const requested = callsOf(world, agent).exportTo(key)
  const { id } = await operationOf(agent)
  const ctx = signerContext(world)
  await new Promise<void>((died) => {
    const exporter = {
      sealTo: () => {
        died()
        return dead()
      },
    }
    void advanceWalletTransaction({ ...ctx, exporter }, id)
  })
  await carryOut(ctx, agent)
  expect((await requested).body.data).toMatchObject({ kind: 'export', status: 'done' })
})

test('two signers at once: one signature is stored, and one transaction takes effect', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const requested = callsOf(world, agent).send({ asset: 'SOL', to, amount: AMOUNT })
  const { id } = await operationOf(agent)
  await Promise.all(Array.from({ length: 8 }, () => advanceWalletTransaction(signerContext(world), id)))
  await carryOut(signerContext(world), agent)
  await requested
  expect(await lamportsOf(world, to)).toBe(START / 4n)
  const stored = await world.market.db
    .selectFrom('outgoing_transactions')
    .select('n')
    .where('action_id', '=', id)
    .execute()
  expect(stored).toEqual([{ n: 1 }])
})
