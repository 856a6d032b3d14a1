import { evmChain } from '@market/chains/evm/evm-chain'
import type { Chain, IncomingTransfer } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { startEvmNetwork } from '@market/testing/evm-network'
import fc from 'fast-check'
import type { Hex } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { authorizedBy, CONFIRMATIONS, FINALITY, fundedPayer, newAccount, settingsFor } from './evm-world.ts'
import { relayTo } from './node-relay.ts'

const network = await startEvmNetwork({ chainId: 8453 })
afterAll(() => network.stop())
beforeEach(() => network.automine(true))
const payers = [await fundedPayer(network), await fundedPayer(network), await fundedPayer(network)] as const

/** Reads page by page until the position stays the same. */
const readOn = async (chain: Chain, from: string | undefined, limit: () => number) => {
  const transfers: IncomingTransfer[] = []
  let position = from
  for (;;) {
    const size = limit()
    const page = await chain.transfersAfter(position, size)
    expect(new Set(page.transfers.map(({ reference }) => reference)).size).toBeLessThanOrEqual(size)
    transfers.push(...page.transfers)
    if (page.position === position) return { transfers, position }
    position = page.position
  }
}
const watchOf = (changes: Parameters<typeof settingsFor>[2] = {}) => {
  const treasury = newAccount()
  return { treasury, chain: evmChain(settingsFor(network, treasury.address, changes)) }
}
const references = (transfers: readonly IncomingTransfer[]) => transfers.map(({ reference }) => reference)

test('returns every transfer exactly once and in order, for any page size and blocks', async () => {
  const block = fc.array(
    fc.record({ payer: fc.nat({ max: 2 }), amount: fc.bigInt({ min: 1n, max: 99n }), toUs: fc.boolean() }),
    { maxLength: 4 },
  )
  const plan = fc.record({
    blocks: fc.array(block, { maxLength: 8 }),
    limits: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 6 }),
    looks: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
  })
  await fc.assert(
    fc.asyncProperty(plan, async ({ blocks, limits, looks }) => {
      const { treasury, chain } = watchOf()
      const elsewhere = newAccount().address
      let asked = 0
      const limit = () => limits[asked++ % limits.length] ?? 1
      const sent: Hex[] = []
      const seen: IncomingTransfer[] = []
      let position: string | undefined
      const read = async () => {
        const page = await readOn(chain, position, limit)
        seen.push(...page.transfers)
        position = page.position
      }
      await network.automine(false)
      for (const [index, payments] of blocks.entries()) {
        for (const { payer, amount, toUs } of payments) {
          const from = payers[payer] ?? payers[0]
          const hash = await network.transfer(from, toUs ? treasury.address : elsewhere, amount)
          if (toUs) sent.push(hash)
        }
        await network.mine(1)
        if (looks[index] === true) await read()
      }
      await network.mine(CONFIRMATIONS)
      await read()
      // Within a block the miner decides the order.
      expect(references(seen).toSorted()).toEqual(sent.toSorted())
      const heights = seen.map(({ block: { height } }) => height)
      expect(heights).toEqual(heights.toSorted((a, b) => Number(a - b)))
      const total = seen.reduce((sum, { amount }) => sum + amount, 0n)
      expect(total).toBe(await network.balanceOf(treasury.address))
    }),
    { numRuns: 25 },
  )
})

test('returns payer, amount, time, block and finality of a transfer', async () => {
  const { treasury, chain } = watchOf()
  const reference = await network.transfer(payers[0], treasury.address, 7n)
  await network.mine(CONFIRMATIONS)
  const { transfers } = await readOn(chain, undefined, () => 10)
  const observation = await chain.findTransfer({
    reference,
    minAmount: usdc(1n),
    notBefore: new Date(0),
    notAfter: new Date(Date.now() + 3_600_000),
  })
  expect(observation).toEqual({ kind: 'ok', transfer: transfers[0] })
  expect(transfers[0]).toMatchObject({ payer: payers[0].address.toLowerCase(), amount: 7n, final: false })
  await network.mine(FINALITY)
  expect((await readOn(chain, undefined, () => 10)).transfers).toMatchObject([{ reference, final: true }])
})

test('returns only confirmed transfers, and a reorganization of newer blocks changes none of them', async () => {
  const { treasury, chain } = watchOf()
  const early = await network.transfer(payers[0], treasury.address, 1n)
  await network.mine(CONFIRMATIONS - 1)
  const dropped = await network.transfer(payers[1], treasury.address, 2n)
  const start = await readOn(chain, undefined, () => 10)
  expect(references(start.transfers)).toEqual([early])

  await network.reorg(CONFIRMATIONS - 1)
  const late = await network.transfer(payers[2], treasury.address, 3n)
  await network.mine(CONFIRMATIONS)
  const next = await readOn(chain, start.position, () => 10)
  expect(references(next.transfers)).toEqual([late])
  expect(references(next.transfers)).not.toContain(dropped)
})

test('misses no transfer after a reorganization deeper than the confirmations', async () => {
  const { treasury, chain } = watchOf()
  await network.mine(FINALITY)
  await network.transfer(payers[0], treasury.address, 1n)
  await network.mine(CONFIRMATIONS + 1)
  const start = await readOn(chain, undefined, () => 10)
  expect(start.transfers).toHaveLength(1)
  // The block is removed, and another transfer is below the reached position.
  await network.reorg(CONFIRMATIONS + 2)
  await network.rpc('anvil_rollback', [CONFIRMATIONS + 1])
  const moved = await network.transfer(payers[1], treasury.address, 2n)
  await network.mine(CONFIRMATIONS + 3)
  const next = await readOn(chain, start.position, () => 10)
  expect(references(next.transfers)).toEqual([moved])
})

test('each transfer of a transaction has its own index, whatever the size of a page', async () => {
  const { treasury, chain } = watchOf()
  const [one, other] = payers
  const authorized = (from: typeof one, amount: bigint) =>
    authorizedBy(network, from, treasury.address, amount)
  await network.callMany(network.usdc, [await authorized(one, 1n), await authorized(one, 2n)])
  await network.callMany(network.usdc, [await authorized(one, 3n), await authorized(other, 4n)])
  await network.mint(treasury.address, 5n)
  await network.mine(CONFIRMATIONS)
  const { transfers } = await readOn(chain, undefined, () => 1)
  const [first, second] = [one.address.toLowerCase(), other.address.toLowerCase()]
  expect(transfers).toMatchObject([
    { index: 0, amount: 1n, payer: first },
    { index: 1, amount: 2n, payer: first },
    { index: 0, amount: 3n, payer: first },
    { index: 1, amount: 4n, payer: second },
    { index: 0, amount: 5n, payer: null },
  ])
})

test('does not return transfers from own addresses', async () => {
  const vault = await fundedPayer(network)
  const { treasury, chain } = watchOf({ ownAddresses: [vault.address] })
  await network.transfer(vault, treasury.address, 5n)
  const counted = await network.transfer(payers[0], treasury.address, 6n)
  await network.mine(CONFIRMATIONS)
  expect(references((await readOn(chain, undefined, () => 1)).transfers)).toEqual([counted])
})

test('reads long ranges without transfers in bounded requests, and in smaller ones when the node requires it', async () => {
  const relay = await relayTo(network.url)
  try {
    const treasury = newAccount()
    const chain = evmChain(settingsFor(network, treasury.address, { rpcUrls: [relay.url], watchBlocks: 40 }))
    const early = await network.transfer(payers[0], treasury.address, 1n)
    await network.mine(100)
    const late = await network.transfer(payers[0], treasury.address, 2n)
    await network.mine(CONFIRMATIONS)
    const both = [early, late]
    expect(references((await readOn(chain, undefined, () => 10)).transfers)).toEqual(both)
    const questions = relay.methods().filter((method) => method === 'eth_getLogs')
    expect(questions.length).toBeGreaterThan(2)

    const MOST = 7n
    relay.mood = {
      kind: 'error',
      code: -32_602,
      message: `eth_getLogs is limited to a ${MOST} block range`,
      when: ({ method, params }) => {
        const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, string>
        return method === 'eth_getLogs' && BigInt(toBlock ?? 0) - BigInt(fromBlock ?? 0) >= MOST
      },
    }
    expect(references((await readOn(chain, undefined, () => 10)).transfers)).toEqual(both)
  } finally {
    await relay.stop()
  }
})

test('does not move the position when the node does not have the last read block', async () => {
  const { treasury, chain } = watchOf()
  await network.transfer(payers[0], treasury.address, 1n)
  await network.mine(CONFIRMATIONS)
  const { position } = await readOn(chain, undefined, () => 10)
  const behind = await startEvmNetwork({ chainId: 8453 })
  try {
    const elsewhere = evmChain(settingsFor(behind, treasury.address))
    expect(await elsewhere.transfersAfter(position, 10)).toEqual({ transfers: [], position })
    const fresh = await elsewhere.transfersAfter(undefined, 10)
    expect(fresh.transfers).toEqual([])
    await behind.mine(1)
    await behind.mint(treasury.address, 3n)
    await behind.mine(CONFIRMATIONS)
    expect((await elsewhere.transfersAfter(fresh.position, 10)).transfers).toMatchObject([{ amount: 3n }])
  } finally {
    await behind.stop()
  }
})

test('rejects a text that is not a position', async () => {
  const { chain } = watchOf()
  await expect(chain.transfersAfter('12', 10)).rejects.toThrow('12 is not a log position')
})
