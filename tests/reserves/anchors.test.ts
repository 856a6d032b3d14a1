import { createHash } from 'node:crypto'
import { evmReserveSigner } from '@market/chains/evm/evm-reserve-signer'
import { kmsEvmSigner } from '@market/chains/kms/kms-evm-signer'
import { localEvmSigner } from '@market/chains/local-signers'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaReserveAnchor } from '@market/chains/solana/solana-reserve-anchor'
import type { Chains } from '@market/core/ports/chain'
import type { ReserveAnchor, ReserveSigner } from '@market/core/ports/reserve-anchor'
import { unavailable } from '@market/kernel/api-error'
import { DAY, HOUR, MINUTE } from '@market/kernel/clock'
import { anchorReserves, listAnchors, signAnchors } from '@market/reserves/anchors'
import { readAgentWallets, takeReserveSnapshot } from '@market/reserves/snapshots'
import { startEvmNetwork } from '@market/testing/evm-network'
import { startKmsServer } from '@market/testing/kms-server'
import { testDatabase } from '@market/testing/postgres'
import { type Address, signature } from '@solana/kit'
import { recoverMessageAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fundedPayer, newAccount } from '../chains/evm-world.ts'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { follow } from '../support/follow.ts'
import { until } from '../support/until.ts'
import { NETWORK, openTreasury, type Treasury } from './treasury.ts'

const LONG = { withinMs: 120_000 }
const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
let world: SolanaWorld
let publisher: ReserveAnchor
beforeAll(async () => {
  world = await startSolanaWorld()
  publisher = solanaReserveAnchor(world.settings, world.signer)
})
afterAll(() => Promise.all([network.stop(), world.stop()]))

let treasury: Treasury
let ctx: Omit<Treasury['ctx'], 'chains'> & { readonly chains: Chains }
let sentBefore: number
beforeEach(async () => {
  const database = await testDatabase()
  treasury = await openTreasury(database.db, network)
  await treasury.payIn(payer, 5_000_000n, { purpose: 'order:a', due: 5_000_000n })
  treasury.clock.advance(DAY - (treasury.clock.now().getTime() % DAY))
  ctx = { ...treasury.ctx, chains: { ...treasury.ctx.chains, 'solana-mainnet': solanaChain(world.settings) } }
  await follow(ctx, 'solana-mainnet')
  sentBefore = (await memos()).length
  return database.stop
})

const takeSnapshots = async () => {
  await follow(ctx, NETWORK)
  await follow(ctx, 'solana-mainnet')
  const base = await takeReserveSnapshot(ctx, NETWORK, { withProof: true })
  await readAgentWallets(ctx, 'solana-mainnet')
  const solana = await takeReserveSnapshot(ctx, 'solana-mainnet', { withProof: true })
  if (base === undefined || solana === undefined) throw new Error('another worker took the snapshot')
  return { base, solana }
}
const run = (by: ReserveAnchor = publisher) =>
  anchorReserves({ ...ctx, reserveAnchors: { 'solana-mainnet': by } })
const runWithoutSolana = () => anchorReserves({ ...ctx, reserveAnchors: {} })
const anchors = async () => (await listAnchors(ctx, { limit: 20 })).rows
const stored = () =>
  ctx.db.selectFrom('outgoing_transactions').select(['n', 'reference']).orderBy('n').execute()

/** Every transaction of the treasury with a memo. */
const memos = async () => {
  const found = await world.rpc
    .getSignaturesForAddress(world.treasury.address as Address, { commitment: 'confirmed' })
    .send()
  return found.flatMap(({ memo }) => memo ?? [])
}
const newMemos = async () => (await memos()).slice(0, -sentBefore || undefined)

const untilFinal = async () => {
  await until(
    'the anchor is final',
    async () => {
      treasury.clock.advance(MINUTE)
      await run()
      return (await anchors())[0]?.anchored !== null
    },
    LONG,
  )
}

test('anchor: one memo of the treasury commits to the roots of all networks, and anyone can recompute it', async () => {
  const { base, solana } = await takeSnapshots()
  await untilFinal()
  const [anchor] = await anchors()
  const lines = [
    `base-mainnet ${base.id} ${base.proof?.root} 5000000`,
    `solana-mainnet ${solana.id} ${solana.proof?.root} 0`,
    `solana-mainnet:agent-wallets ${solana.id} ${solana.wallets?.root} 0`,
  ]
  const text = `market.reserves.v1 ${base.day} ${createHash('sha256').update(lines.join('\n')).digest('hex')}`
  expect(anchor).toMatchObject({
    day: base.day,
    text,
    anchored: { network: 'solana-mainnet', account: world.treasury.address },
  })
  const transaction = await world.rpc
    .getTransaction(signature(anchor?.anchored?.reference ?? ''), {
      encoding: 'jsonParsed',
      commitment: 'finalized',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  expect(transaction?.transaction.message.instructions).toContainEqual(
    expect.objectContaining({ program: 'spl-memo', parsed: text }),
  )
  expect(transaction?.transaction.message.accountKeys[0]).toMatchObject({
    pubkey: world.treasury.address,
    signer: true,
  })
})

test('anchor: several workers publish it once', async () => {
  await takeSnapshots()
  await Promise.all(Array.from({ length: 6 }, () => run()))
  await untilFinal()
  await Promise.all(Array.from({ length: 6 }, () => run()))
  expect(await stored()).toHaveLength(1)
  expect(await newMemos()).toHaveLength(1)
})

test('anchor: a worker that dies before it sends leaves the signature, and the next one sends the same', async () => {
  await takeSnapshots()
  const dying = { ...publisher, send: () => Promise.reject(unavailable('killed')) }
  await run(dying)
  const [signed] = await stored()
  expect(await newMemos()).toHaveLength(0)
  await untilFinal()
  expect(await stored()).toEqual([signed])
  expect((await anchors())[0]?.anchored?.reference).toBe(signed?.reference)
})

test('anchor: a transaction that expired is signed again', async () => {
  await takeSnapshots()
  await run({ ...publisher, send: async () => {} })
  const [lost] = await stored()
  await until(
    'another one is signed',
    async () => {
      treasury.clock.advance(HOUR)
      await run({ ...publisher, send: async () => {} })
      return (await stored()).length === 2
    },
    LONG,
  )
  await untilFinal()
  expect((await anchors())[0]?.anchored?.reference).not.toBe(lost?.reference)
})

test('anchor: waits six hours for a network without its snapshot of the day, then leaves it out', async () => {
  await follow(ctx, NETWORK)
  await takeReserveSnapshot(ctx, NETWORK, { withProof: true })
  await run()
  expect(await anchors()).toEqual([])
  treasury.clock.advance(6 * HOUR)
  await run()
  expect(await anchors()).toMatchObject([{ trees: [{ network: NETWORK }] }])
})

test('anchor: without a Solana treasury the text is listed and not anchored', async () => {
  await takeSnapshots()
  expect(await runWithoutSolana()).toBeUndefined()
  expect(await anchors()).toMatchObject([
    { text: expect.stringMatching(/^market\.reserves\.v1 /), anchored: null },
  ])
  expect(await newMemos()).toHaveLength(0)
})

test('anchor: is overdue 36 hours after the newest final one', async () => {
  await takeSnapshots()
  const unsent = { ...publisher, send: async () => {} }
  expect(await run(unsent)).toMatchObject({ isOverdue: false })
  treasury.clock.advance(36 * HOUR + MINUTE)
  expect(await run(unsent)).toMatchObject({ isOverdue: true })
  await untilFinal()
  expect(await run()).toMatchObject({ isOverdue: false })
})

test('anchor: a later snapshot of the same day does not change its text', async () => {
  const { base } = await takeSnapshots()
  await runWithoutSolana()
  const before = await anchors()
  treasury.clock.advance(10 * MINUTE)
  await follow(ctx, NETWORK)
  expect(await takeReserveSnapshot(ctx, NETWORK, { withProof: true })).toMatchObject({ day: null })
  await runWithoutSolana()
  expect(await anchors()).toEqual(before)
  expect(before[0]?.trees[0]).toMatchObject({ snapshotId: base.id })
})

const treasurySigner = () => evmReserveSigner(NETWORK, localEvmSigner(treasury.account.key))
const signatures = async () => (await anchors())[0]?.signatures

test('signatures: the treasury signs the text of the day once, by several workers, and its address is recovered', async () => {
  await takeSnapshots()
  await runWithoutSolana()
  expect(await signatures()).toEqual([])
  await Promise.all(Array.from({ length: 6 }, () => signAnchors(ctx, treasurySigner())))
  const [anchor] = await anchors()
  const [{ signature = '0x' } = {}, ...more] = anchor?.signatures ?? []
  expect(anchor?.signatures).toMatchObject([{ network: NETWORK, treasury: treasury.account.address }])
  expect(more).toEqual([])
  const signed = { message: anchor?.text ?? '', signature: signature as `0x${string}` }
  expect(await recoverMessageAddress(signed)).toBe(treasury.account.address)
  await signAnchors(ctx, { ...treasurySigner(), sign: () => Promise.reject(new Error('signed twice')) })
  expect(await signatures()).toEqual(anchor?.signatures)
})

test('signatures: a text that could not be signed is published, and signed later, up to a week', async () => {
  await takeSnapshots()
  const down: ReserveSigner = {
    ...treasurySigner(),
    sign: () => Promise.reject(unavailable('the KMS does not respond')),
  }
  await runWithoutSolana()
  await expect(signAnchors(ctx, down)).rejects.toMatchObject({ kind: 'unavailable' })
  await untilFinal()
  expect(await signatures()).toEqual([])
  treasury.clock.advance(6 * DAY)
  await signAnchors(ctx, treasurySigner())
  expect(await signatures()).toMatchObject([{ network: NETWORK }])
})

test('signatures: a key that is not of the treasury in the snapshot signs nothing', async () => {
  await takeSnapshots()
  await runWithoutSolana()
  await signAnchors(ctx, evmReserveSigner(NETWORK, localEvmSigner(newAccount().key)))
  await signAnchors(ctx, evmReserveSigner('alt-mainnet', localEvmSigner(treasury.account.key)))
  expect(await signatures()).toEqual([])
})

test('signatures: a treasury key signs no text but that of an anchor, in a KMS too', async () => {
  const kms = await startKmsServer()
  try {
    const { endpoint, credentials } = kms
    const keyId = kms.createKey('ECC_SECG_P256K1')
    const key = await kmsEvmSigner({ keyId, region: 'eu-central-1', endpoint, credentials })
    const text = `market.reserves.v1 2026-11-19 ${'ab'.repeat(32)}`
    for (const signer of [treasurySigner(), evmReserveSigner(NETWORK, key)]) {
      const { signature } = await signer.sign(text)
      const signed = { message: text, signature: signature as `0x${string}` }
      expect(await recoverMessageAddress(signed)).toBe(signer.treasury)
      for (const other of [`${text}\n`, ` ${text}`, text.replace('v1', 'v2'), 'agents.owner'])
        await expect(signer.sign(other)).rejects.toThrow(/only texts of anchors/)
    }
  } finally {
    await kms.stop()
  }
})
