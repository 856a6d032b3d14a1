import { advanceWalletTransaction, type SignerContext, startWithdrawDelays } from '@market/custody/wallets'
import { connect } from '@market/database/connect'
import type { Db, Tx } from '@market/database/transact'
import { DAY, HOUR } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { smartWallet } from '@market/testing/smart-wallet'
import { installSolanaUsdc } from '@market/testing/solana-usdc'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { walletOf } from '../support/agent-wallets.ts'
import { makeAgent, makeUser, type Signer, signed } from '../support/makers.ts'
import { whileOn } from '../support/operator.ts'
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

let world: WalletMarket
/** The database with the rights of the api: what somebody has who took over an api process. */
let stolen: Db
beforeAll(async () => {
  world = await startWalletMarket()
  stolen = connect({ url: world.market.environment['DATABASE_URL'] ?? '' })
})
afterAll(async () => {
  await stolen.destroy()
  await world.market.stop()
})

/** A time of the database, in milliseconds. */
const timeOf = async (tx: Tx, time: RawBuilder<unknown>): Promise<number> => {
  const { rows } = await sql<{ at: Date }>`select ${time} as at`.execute(tx)
  return rows[0]?.at.getTime() ?? 0
}

let count = 0
const newId = (prefix: string) => {
  count += 1
  return `${prefix}_${Date.now()}_${String(count).padStart(17, '0')}`
}

interface Forged {
  readonly kind: 'send' | 'withdraw' | 'export' | 'launch' | 'identity'
  readonly asset?: string
  readonly asset_decimals?: number
  readonly destination?: string
  readonly amount?: bigint
  readonly public_key?: string
  readonly token_name?: string
  readonly token_symbol?: string
  readonly token_uri?: string
  readonly token_description?: string
  readonly token_image_url?: string
  readonly owner?: { wallet: string; wallet_sig: string; wallet_sig_ts: number }
}

/** Adds a row as a program with the rights of the api can. */
async function forge(
  agent: WalletAgent,
  { owner, ...row }: Forged,
  now = new Date(world.market.now()),
): Promise<`wop_${string}`> {
  const id = newId('wop') as `wop_${string}`
  await stolen
    .insertInto('wallet_transactions')
    .values({
      id,
      agent_id: agent.id,
      wallet: agent.wallet,
      requested_by: `agent:${agent.id}`,
      ...row,
      amount: row.amount === undefined ? null : String(row.amount),
      owner_wallet: owner?.wallet.toLowerCase() ?? null,
      owner_signature: owner?.wallet_sig ?? null,
      owner_signed_at_ms: owner === undefined ? null : BigInt(owner.wallet_sig_ts),
      status: 'requested',
      created_at: now,
      updated_at: now,
      due_at: now,
    })
    .execute()
  return id
}

/** Advances once or until it has ended, and returns the failure. */
async function carryOut(id: `wop_${string}`, ctx: SignerContext = signerContext(world)) {
  const read = () =>
    world.market.db
      .selectFrom('wallet_transactions')
      .select(['status', 'failure'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  await until(
    'it has ended',
    async () => {
      await advanceWalletTransaction(ctx, id)
      return ['done', 'failed'].includes((await read()).status)
    },
    { everyMs: 100 },
  )
  return (await read()).failure
}

const expectNothingSent = async (agent: WalletAgent) => {
  expect(await transactionsOf(world, agent.wallet)).toEqual([])
  expect(await lamportsOf(world, agent.wallet)).toBe(SOL)
}

describe('a program with the rights of the api', () => {
  const purposeOf = ({ id }: WalletAgent, to: string, amount: string) =>
    `wallets.send:${id}:SOL:${to}:${amount}`
  const send = (destination: string, amount = SOL / 4n) =>
    ({ kind: 'send', asset: 'SOL', destination, amount }) as const

  test('cannot link a wallet of its own as owner wallet and send at once', async () => {
    const { sub, token } = await makeUser(world.market as never)
    const { id, apiKey } = await makeAgent(world.market as never, { idp_access_token: token })
    const [wallet, thief, to] = [await walletOf(world.market as never, id), evmSigner(), await newAddress()]
    await world.solana.chain.fundSol(wallet, SOL)
    const key = thief.address.toLowerCase()
    const yesterday = new Date(world.market.now() - DAY)
    await stolen
      .insertInto('user_wallets')
      .values({
        wallet_key: key,
        idp_user_id: sub,
        chain: 'base',
        address: thief.address,
        verified_at: yesterday,
      })
      .execute()
    await stolen
      .updateTable('agents')
      .set({ owner_wallet: key, owner_proven_by: 'key', owner_wallet_effective_at: yesterday })
      .where('id', '=', id)
      .execute()
    const agent = { id, apiKey, wallet, owner: thief }
    const forged = await forge(agent, {
      ...send(to),
      owner: await signed(thief, purposeOf(agent, to, '0.25')),
    })
    expect(await carryOut(forged)).toBe('owner_not_verified')
    await expectNothingSent(agent)
  })

  test.each<[string, (agent: WalletAgent, to: string) => Promise<Forged>]>([
    [
      'a signature of another wallet',
      async (agent, to) => ({ ...send(to), owner: await signed(evmSigner(), purposeOf(agent, to, '0.25')) }),
    ],
    [
      'a signature of another wallet under the name of the owner',
      async (agent, to) => {
        const other = await signed(evmSigner(), purposeOf(agent, to, '0.25'))
        return { ...send(to), owner: { ...other, wallet: agent.owner.address } }
      },
    ],
    [
      'the owner’s signature for another address',
      async (agent, to) => ({
        ...send(to),
        owner: await signed(agent.owner, purposeOf(agent, await newAddress(), '0.25')),
      }),
    ],
    [
      'the owner’s signature for a smaller amount',
      async (agent, to) => ({ ...send(to), owner: await signed(agent.owner, purposeOf(agent, to, '0.1')) }),
    ],
    [
      'the owner’s signature for reading',
      async (agent, to) => ({ ...send(to), owner: await signed(agent.owner, 'session') }),
    ],
    [
      'the owner’s signature of two hours ago',
      async (agent, to) => ({
        ...send(to),
        owner: await signed(agent.owner, purposeOf(agent, to, '0.25'), Date.now() - 2 * HOUR),
      }),
    ],
  ])('cannot send with %s', async (_, forged) => {
    const agent = await makeWalletAgent(world)
    expect(await carryOut(await forge(agent, await forged(agent, await newAddress())))).toBe(
      'owner_not_verified',
    )
    await expectNothingSent(agent)
  })

  test('cannot send more of a token by naming other decimals, nor USDC by its mint, which has no cap', async () => {
    const agent = await makeWalletAgent(world, { usdc: 3_000_000n })
    const { usdc } = world.solana
    const mint = await newAddress()
    const token = await installSolanaUsdc(world.solana.chain, world.solana.issuer, { mint })
    await token.fund(agent.wallet, 5_000_000n)
    const to = await newAddress()
    for (const [asset, decimals, amount] of [
      [mint, 9, 1_500_000_000n],
      [mint, 5, 150_000n],
      [usdc.mint, 6, 1_500_000n],
    ] as const) {
      const owner = await signed(agent.owner, `wallets.send:${agent.id}:${asset}:${to}:1.5`)
      const forged = {
        kind: 'send',
        asset,
        asset_decimals: decimals,
        destination: to,
        amount,
        owner,
      } as const
      expect(await carryOut(await forge(agent, forged))).toBe('bad_asset')
    }
    await expectNothingSent(agent)
    const owner = await signed(agent.owner, `wallets.send:${agent.id}:${mint}:${to}:1.5`)
    const right = { asset: mint, asset_decimals: 6, destination: to, amount: 1_500_000n, owner } as const
    expect(await carryOut(await forge(agent, { kind: 'send', ...right }))).toBeNull()
    expect(await token.balanceOf(to)).toBe(1_500_000n)
  })

  test('cannot use a signature of the owner twice', async () => {
    const agent = await makeWalletAgent(world)
    const to = await newAddress()
    const forged = { ...send(to), owner: await signed(agent.owner, purposeOf(agent, to, '0.25')) }
    expect(await carryOut(await forge(agent, forged))).toBeNull()
    const upperCase = forged.owner.wallet_sig.replace(/[a-f]+/g, (digits) => digits.toUpperCase())
    for (const wallet_sig of [forged.owner.wallet_sig, upperCase])
      await expect(forge(agent, { ...forged, owner: { ...forged.owner, wallet_sig } })).rejects.toMatchObject(
        {
          constraint: 'wallet_transactions_signed_once',
        },
      )
  })

  test('cannot export with a signature for another public key', async () => {
    const agent = await makeWalletAgent(world)
    const [signedKey, otherKey] = ['A'.repeat(43), 'B'.repeat(43)]
    const owner = await signed(agent.owner, `wallets.export:${agent.id}:${signedKey}`)
    const id = await forge(agent, { kind: 'export', public_key: otherKey, owner })
    expect(await carryOut(id)).toBe('owner_not_verified')
  })

  test('cannot withdraw to an address that the owner did not set', async () => {
    const agent = await makeWalletAgent(world)
    const forged = {
      kind: 'withdraw',
      asset: 'SOL',
      destination: await newAddress(),
      amount: 1_000_000n,
    } as const
    expect(await carryOut(await forge(agent, forged))).toBe('not_withdraw_address')
    await expectNothingSent(agent)
  })

  /** Adds a withdraw address that is said to be in effect since yesterday. */
  const plant = (agentId: string, address: string) =>
    sql`insert into withdraw_addresses (id, agent_id, address, set_by, created_at, effective_at, stored_at)
      values (${newId('wad')}, ${agentId}, ${address}, 'user:x', now() - interval '3 days', now() - interval '2 days',
        now() - interval '3 days')`.execute(stolen)

  test('cannot date the withdraw address of a user’s agent back, and the user sees it as pending', async () => {
    const { token } = await makeUser(world.market)
    const agent = await makeAgent(world.market, { idp_access_token: token })
    const address = await newAddress()
    await plant(agent.id, address)
    const funding = await world.market
      .client()
      .get(`/api/agents/${agent.id}/funding`, { bearer: token })
      .then(({ body }) => body.data)
    expect(funding).toMatchObject({ withdraw_address: null, pending_address: address })
    const withdrawn = await world.market
      .client()
      .post('/api/agents/me/withdraw', { asset: 'SOL' }, { bearer: agent.apiKey })
    expect(withdrawn.body.code).toBe('no_withdraw_address')
    const cancelled = await world.market
      .client()
      .send('DELETE', `/api/agents/${agent.id}/withdraw-address`, { bearer: token })
    expect(cancelled.body.data.pending_address).toBeNull()
  })

  test('cannot start the 24 hours of a withdraw address before the worker has notified the owner', async () => {
    const { token } = await makeUser(world.market)
    const agent = await makeAgent(world.market, { idp_access_token: token })
    const wallet = await walletOf(world.market, agent.id)
    await world.solana.chain.fundSol(wallet, SOL)
    const address = await newAddress()
    await plant(agent.id, address)
    // As if the transaction had been open for three days.
    const later = new Date(world.market.now() + 3 * DAY)
    const forged = { kind: 'withdraw', asset: 'SOL', destination: address, amount: 10_000_000n } as const
    const worker = { ...signerContext(world), clock: { now: () => later, wallTime: () => new Date() } }
    const victim = { ...agent, wallet, owner: evmSigner() }
    expect(await carryOut(await forge(victim, forged, later), worker)).toBe('not_withdraw_address')
    await expect(
      sql`update withdraw_delays set notified_at = now() - interval '2 days'`.execute(stolen),
    ).rejects.toMatchObject({ code: '42501' })
    await startWithdrawDelays(worker)
    const inbox = await world.market.client().get('/api/notifications', { bearer: token })
    expect(inbox.body.data).toMatchObject([{ kind: 'agent.withdraw_address_set', data: { address } }])
    expect(await carryOut(await forge(victim, forged, later), worker)).toBe('not_withdraw_address')
    const dayLater = new Date(later.getTime() + DAY)
    const next = { ...worker, clock: { now: () => dayLater, wallTime: () => new Date() } }
    expect(await carryOut(await forge(victim, forged, dayLater), next)).toBeNull()
  })

  test('cannot date the storing of a withdraw address back by a transaction that began earlier', async () => {
    const agent = await makeWalletAgent(world)
    const { began, stored } = await stolen.transaction().execute(async (tx) => {
      const began = await timeOf(tx, sql`now()`)
      await until(
        'a second of the transaction',
        async () => (await timeOf(tx, sql`clock_timestamp()`)) - began > 1000,
      )
      const id = newId('wad')
      await sql`insert into withdraw_addresses (id, agent_id, address, set_by, created_at, effective_at)
        values (${id}, ${agent.id}, ${await newAddress()}, 'user:x', now(), now() + interval '1 day')`.execute(
        tx,
      )
      return {
        began,
        stored: await timeOf(tx, sql`(select stored_at from withdraw_addresses where id = ${id})`),
      }
    })
    expect(stored - began).toBeGreaterThan(1000)
  })

  test('cannot add a withdraw address that the owner wallet did not sign', async () => {
    const agent = await makeWalletAgent(world)
    const address = await newAddress()
    await plant(agent.id, address)
    const forged = { kind: 'withdraw', asset: 'SOL', destination: address, amount: 10_000_000n } as const
    // As if a day had passed.
    const now = new Date(world.market.now() + 2 * DAY)
    const id = await forge(agent, forged, now)
    const ctx = { ...signerContext(world), clock: { now: () => now, wallTime: () => new Date() } }
    expect(await carryOut(id, ctx)).toBe('not_withdraw_address')
    await expectNothingSent(agent)
  })

  test('cannot cancel an address that is in effect, to bring back the one before it', async () => {
    const agent = await makeWalletAgent(world)
    await callsOf(world, agent).setAddress(await newAddress())
    await sql`update withdraw_delays set notified_at = now() - interval '25 hours'
      where address_id in (select id from withdraw_addresses where agent_id = ${agent.id})`.execute(
      world.market.db,
    )
    const cancel = sql`update withdraw_addresses set cancelled_at = now() where agent_id = ${agent.id}`
    await expect(cancel.execute(stolen)).rejects.toMatchObject({ constraint: 'withdraw_addresses_stays' })
  })

  test.each(['launch', 'identity'] as const)(
    'cannot have a %s signed that names another site',
    async (kind) => {
      const agent = await makeWalletAgent(world)
      const token = { token_name: 'Fake', token_symbol: 'FAKE', token_uri: 'https://evil.example/fake.json' }
      const more = {
        token_description: 'A token of somebody else.',
        token_image_url: 'https://evil.example/i.png',
      }
      const id = await forge(agent, { kind, ...token, ...(kind === 'launch' && more) })
      expect(await carryOut(id)).toBe('bad_metadata')
      await expectNothingSent(agent)
    },
  )

  test('cannot change how an owner wallet was proven to another network', async () => {
    const agent = await makeWalletAgent(world)
    const change = sql`update agents set owner_proven_by = 'alt-mainnet' where id = ${agent.id}`
    await expect(change.execute(stolen)).rejects.toMatchObject({ constraint: 'agents_owner_stays' })
  })

  test.each([
    ['read a sealed seed', 'select secret_sealed from agent_wallets', '42501'],
    ['change an operation', `update wallet_transactions set destination = 'x'`, '42501'],
    ['end an operation', `update wallet_transactions set status = 'done'`, '42501'],
    ['delete an operation', 'delete from wallet_transactions', '42501'],
    ['add a transaction', `insert into outgoing_transactions values ('x', 1, 'wallet')`, '42501'],
    ['change a withdraw address', `update withdraw_addresses set address = 'x'`, '42501'],
    ['delete a withdraw address', 'delete from withdraw_addresses', '42501'],
  ])('cannot %s', async (_, statement, code) => {
    await expect(sql.raw(statement).execute(stolen)).rejects.toMatchObject({ code })
  })

  test('cannot give the agent of a user an owner wallet, which could then sign', async () => {
    const { token } = await makeUser(world.market as never)
    const agent = await makeAgent(world.market as never, { idp_access_token: token })
    const change = sql`update agents set owner_wallet = ${evmSigner().address.toLowerCase()} where id = ${agent.id}`
    await expect(change.execute(stolen)).rejects.toMatchObject({ constraint: 'agents_owner_stays' })
  })
})

test('an owner that is a smart wallet sends by its contract’s verdict', async () => {
  const key = evmSigner()
  const contract = await smartWallet(world.base.url, key)
  await contract.deploy()
  const owner: Signer = { address: contract.address, sign: contract.sign }
  const agent = await makeWalletAgent(world, { owner })
  const to = await newAddress()
  const reply = callsOf(world, agent).send({ asset: 'SOL', to, amount: 0.25 })
  const { operations } = callsOf(world, agent)
  await until('it is requested', async () => (await operations()).body.data.length === 1)
  expect(await carryOut((await operations()).body.data[0].operation_id)).toBeNull()
  expect((await reply).status).toBeLessThan(300)
  expect(await lamportsOf(world, to)).toBe(SOL / 4n)
})

test('a smart wallet whose evidence was not recorded neither sends nor exports', async () => {
  const contract = await smartWallet(world.base.url, evmSigner())
  await contract.deploy()
  const owner: Signer = { address: contract.address, sign: contract.sign }
  const agent = await makeWalletAgent(world, { owner })
  await world.market.db.transaction().execute(async (tx) => {
    // As before the evidence was recorded. A trigger keeps it since.
    await sql`set local session_replication_role = 'replica'`.execute(tx)
    await tx.updateTable('agents').set({ owner_proven_by: null }).where('id', '=', agent.id).execute()
  })
  const to = await newAddress()
  const signedSend = await signed(owner, `wallets.send:${agent.id}:SOL:${to}:0.25`)
  const send = { kind: 'send', asset: 'SOL', destination: to, amount: SOL / 4n, owner: signedSend } as const
  expect(await carryOut(await forge(agent, send))).toBe('owner_not_verified')
  const public_key = 'A'.repeat(43)
  const signedExport = await signed(owner, `wallets.export:${agent.id}:${public_key}`)
  const exported = { kind: 'export', public_key, owner: signedExport } as const
  expect(await carryOut(await forge(agent, exported))).toBe('owner_not_verified')
  await expectNothingSent(agent)
})

test('caps: a wallet sends at most the cap in 24 hours, and again the day after', async () => {
  const agent = await makeWalletAgent(world)
  const calls = callsOf(world, agent)
  const ctx = { ...signerContext(world), walletCaps: { SOL: 300_000_000n, USDC: 0n } }
  const to = await newAddress()
  const requestAndCarryOut = async (amount: number) => {
    const reply = calls.send({ asset: 'SOL', to, amount })
    await until(
      'it is requested',
      async () => (await calls.operations()).body.data[0]?.status === 'requested',
    )
    const failure = await carryOut((await calls.operations()).body.data[0].operation_id, ctx)
    return { failure, reply: await reply }
  }
  expect((await requestAndCarryOut(0.2)).failure).toBeNull()
  const rejected = await requestAndCarryOut(0.2)
  expect(rejected.failure).toBe('cap_exceeded')
  expect(rejected.reply).toMatchObject({ status: 409, body: { code: 'wallet_cap_exceeded' } })
  expect((await requestAndCarryOut(0.1)).failure).toBeNull()
  await world.market.advance(DAY + HOUR)
  expect((await requestAndCarryOut(0.2)).failure).toBeNull()
  expect(await lamportsOf(world, to)).toBe(SOL / 2n)
})

test('freeze_wallets_solana: nothing is requested or signed while it is on', async () => {
  const agent = await makeWalletAgent(world)
  const calls = callsOf(world, agent)
  const to = await newAddress()
  const owner = await signed(agent.owner, `wallets.send:${agent.id}:SOL:${to}:0.25`)
  const id = await forge(agent, { kind: 'send', asset: 'SOL', destination: to, amount: SOL / 4n, owner })
  await whileOn(world.market as never, 'freeze_wallets_solana', async () => {
    expect(await calls.send({ asset: 'SOL', to, amount: 0.25 })).toMatchObject({
      status: 503,
      body: { code: 'freeze_wallets_solana' },
    })
    await advanceWalletTransaction(signerContext(world), id)
    await expectNothingSent(agent)
  })
  expect(await carryOut(id)).toBeNull()
})

test('an operation that nothing was signed for is given up after an hour', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const owner = await signed(agent.owner, `wallets.send:${agent.id}:SOL:${to}:0.25`)
  const id = await forge(agent, { kind: 'send', asset: 'SOL', destination: to, amount: SOL / 4n, owner })
  const { walletSigner: _, ...withoutNode } = signerContext(world)
  await advanceWalletTransaction(withoutNode, id)
  await world.market.advance(HOUR + 1)
  await advanceWalletTransaction(withoutNode, id)
  expect(await carryOut(id)).toBe('expired')
  await expectNothingSent(agent)
})

test('a transfer that expired while wallets are stopped ends, so that the wallet is free again', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const request = async () => {
    const owner = await signed(agent.owner, `wallets.send:${agent.id}:SOL:${to}:0.25`)
    return forge(agent, { kind: 'send', asset: 'SOL', destination: to, amount: SOL / 4n, owner })
  }
  const ctx = signerContext(world)
  const lost = { ...ctx.walletSigner, send: async () => undefined }
  const expired = { ...lost, observe: async () => ({ kind: 'expired' }) as const }
  const id = await request()
  await advanceWalletTransaction({ ...ctx, walletSigner: lost }, id)
  await whileOn(world.market as never, 'freeze_wallets_solana', async () => {
    expect(await carryOut(id, { ...ctx, walletSigner: expired })).toBe('expired')
  })
  await expectNothingSent(agent)
  expect(await carryOut(await request())).toBeNull()
})

test.each(['USDC', 'SOL'])(
  'everything of %s is signed again after its first transaction expired',
  async (asset) => {
    const agent = await makeWalletAgent(world, { usdc: 3_000_000n })
    const to = await newAddress()
    const owner = await signed(agent.owner, `wallets.send:${agent.id}:${asset}:${to}:`)
    const id = await forge(agent, { kind: 'send', asset, destination: to, owner })
    const ctx = signerContext(world)
    await advanceWalletTransaction(
      { ...ctx, walletSigner: { ...ctx.walletSigner, send: async () => undefined } },
      id,
    )
    let isExpired = true
    const observe: typeof ctx.walletSigner.observe = async (all) => {
      // Only the first transaction, which was never sent.
      if (isExpired) {
        isExpired = false
        return { kind: 'expired' }
      }
      return ctx.walletSigner.observe(all)
    }
    expect(await carryOut(id, { ...ctx, walletSigner: { ...ctx.walletSigner, observe } })).toBeNull()
    if (asset === 'USDC') return expect(await world.solana.usdc.balanceOf(to)).toBe(3_000_000n)
    // The second attempt offers a higher fee.
    expect(await lamportsOf(world, agent.wallet)).toBe(0n)
    const { amount } = await world.market.db
      .selectFrom('wallet_transactions')
      .select('amount')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(await lamportsOf(world, to)).toBe(BigInt(amount ?? 0))
    expect(SOL - BigInt(amount ?? 0)).toBe(await ctx.walletSigner.sendCost('SOL', to, 2))
  },
)
