import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { evmReserveSigner } from '@market/chains/evm/evm-reserve-signer'
import { localEvmSigner } from '@market/chains/local-signers'
import { solanaChain } from '@market/chains/solana/solana-chain'
import { solanaReserveAnchor } from '@market/chains/solana/solana-reserve-anchor'
import { findWalletAddress } from '@market/core/custody'
import type { Chains } from '@market/core/ports/chain'
import { anchorReserves, signAnchors } from '@market/reserves/anchors'
import { readAgentWallets, takeReserveSnapshot } from '@market/reserves/snapshots'
import { type EvmNetwork, startEvmNetwork } from '@market/testing/evm-network'
import { deployVault } from '@market/testing/evm-venues'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fundedPayer, newAccount } from '../chains/evm-world.ts'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { cliHere } from '../support/cli.ts'
import { follow } from '../support/follow.ts'
import { asHeaders, makeOwnedAgent, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { until } from '../support/until.ts'
import { type Change, type Json, onPath, startProxy } from './tampering-proxy.ts'
import { openTreasury, type Treasury } from './treasury.ts'

const MAIN = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

let market: Market
let network: EvmNetwork
let world: SolanaWorld
let treasury: Treasury
let ctx: Omit<Treasury['ctx'], 'chains'> & { readonly chains: Chains }
let buyer: Awaited<ReturnType<typeof fundedPayer>>
let apiKey: string
let proxy: Awaited<ReturnType<typeof startProxy>>
let change: Change = () => {}
const folder = mkdtempSync(join(tmpdir(), 'market-verify-'))

const signerOf = ({ address, signMessage }: typeof buyer) => ({
  address,
  sign: (message: string) => signMessage({ message }) as Promise<string>,
})

beforeAll(async () => {
  ;[market, network, world] = await Promise.all([
    startMarket(),
    startEvmNetwork({ chainId: 8453 }),
    startSolanaWorld(),
  ])
  treasury = await openTreasury(market.db, network)
  ctx = { ...treasury.ctx, chains: { ...treasury.ctx.chains, 'solana-mainnet': solanaChain(world.settings) } }
  buyer = await fundedPayer(network)
  const agent = await makeOwnedAgent(market, {}, signerOf(buyer))
  apiKey = agent.apiKey
  const serverWallet = await findWalletAddress(market.db, agent.id, 'solana')
  await world.usdc.fund(serverWallet ?? '', 7_000_000n)
  await world.usdc.fund(world.treasury.address, 1_000_000n)
  await follow(ctx, 'solana-mainnet')
  await treasury.payIn(buyer, 5_000_000n, { purpose: 'order:a', due: 5_000_000n })
  await treasury.payIn(await fundedPayer(network), 9_000_000n, { purpose: 'order:b', due: 9_000_000n })
  const payout = await treasury.requestPayout('order:b', 2_000_000n, newAccount().address)
  await treasury.advance(payout)
  await takeReserveSnapshot(ctx, 'base-mainnet', { withProof: true })
  await readAgentWallets(ctx, 'solana-mainnet')
  await takeReserveSnapshot(ctx, 'solana-mainnet', { withProof: true })
  const reserveAnchors = { 'solana-mainnet': solanaReserveAnchor(world.settings, world.signer) }
  await until(
    'the roots are anchored',
    async () => {
      treasury.clock.advance(60_000)
      await anchorReserves({ ...ctx, reserveAnchors })
      await signAnchors(ctx, evmReserveSigner('base-mainnet', localEvmSigner(treasury.account.key)))
      return (await market.client().get('/api/solvency/anchors')).body.data[0]?.anchored != null
    },
    { withinMs: 120_000 },
  )
  proxy = await startProxy(market.url, (path, body) => change(path, body))
})
afterAll(async () => {
  proxy.server.close()
  await Promise.all([market.stop(), network.stop(), world.stop()])
  rmSync(folder, { recursive: true, force: true })
})

interface Ended {
  readonly code: number
  readonly lines: readonly string[]
  readonly errors: string
}
type Run = (args: readonly string[], environment: Readonly<Record<string, string>>) => Promise<Ended>

/** As a user does. */
const runProcess: Run = (args, environment) =>
  new Promise((resolve) => {
    const env = { ...CHILD_ENVIRONMENT, XDG_CONFIG_HOME: folder, ...environment }
    execFile(process.execPath, [MAIN, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), lines: stdout.trim().split('\n'), errors: stderr }),
    )
  })

const runHere: Run = async (args, environment) => {
  const { status, out, error } = await cliHere(folder, environment).run(args)
  return { code: status, lines: out.trim().split('\n'), errors: error }
}

async function verify(tampered: Change, args: readonly string[] = [], run = runHere): Promise<Ended> {
  change = tampered
  const key = args.includes('--proof') ? {} : { MARKET_API_KEY: apiKey }
  const nodes = ['--rpc', `solana-mainnet=${world.chain.url}`, '--rpc', `base-mainnet=${network.url}`]
  const named = ['--treasury', `solana-mainnet=${world.treasury.address}`]
  named.push('--treasury', `base-mainnet=${treasury.account.address}`)
  const limits = ['--tries', '2', '--wait', '0', '--max-age', '1000']
  const all = ['solvency', 'verify', ...nodes, ...named, ...limits, ...args]
  return run(all, { MARKET_API_URL: proxy.url, ...key })
}

const expectFailed = async (tampered: Change, line: RegExp, args?: readonly string[]) => {
  const { code, lines, errors } = await verify(tampered, args)
  expect({ code, errors }).toEqual({ code: 1, errors: '' })
  expect(lines.filter((one) => one.startsWith('FAILED'))).toContainEqual(expect.stringMatching(line))
}

describe('market solvency verify', () => {
  test('proves the leaves of the caller, the anchor and both treasuries', async () => {
    await network.transfer(buyer, treasury.account.address, 2_000_000n)
    const { code, lines, errors } = await verify(() => {}, [], runProcess)
    await network.transfer(treasury.account, buyer.address, 2_000_000n)
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(lines).toEqual([
      expect.stringMatching(
        /^ok +anchor \d{4}-\d{2}-\d{2} +[1-9A-HJ-NP-Za-km-z]{64,88}, signed by the treasury/,
      ),
      expect.stringMatching(/^ok +signature \d{4}-\d{2}-\d{2} base-mainnet +signed by the treasury 0x/),
      expect.stringMatching(
        /^ok +leaf escrow:base-mainnet:order:a +5\.00 owed to 0x\w+ is included, anchored/,
      ),
      expect.stringMatching(/^ok +leaf wallet:solana-mainnet:\w+ +7\.00 .*; the wallet holds 7\.00 now$/),
      expect.stringMatching(
        /^ok +treasury solana-mainnet +holds 1\.00, owes 0\.00 as the API says, owed 0\.00 on/,
      ),
      expect.stringMatching(/^ok +treasury base-mainnet +holds 14\.00, sent 2\.00 in flight, owes 14\.00/),
      expect.stringMatching(/^Proven: /),
    ])
  })

  test('does not prove a payout in flight: only the API says to whom it was owed', async () => {
    const { code, lines } = await verify(() => {})
    expect(code).toBe(3)
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^warning +treasury base-mainnet +holds 12\.00, sent 2\.00 in flight, owes 14\.00.*12\.00 is proven/,
      ),
    )
  })

  test('proves what is on its way to a venue only when its wallet and vault are named', async () => {
    const [vault, wallet] = [await deployVault(network, 'lending'), newAccount().address]
    await vault.depositByOther(30_000_000n, wallet)
    const earn = onPath('/api/solvency', (data) => {
      const base = data.find((one: Json) => one.in_flight !== undefined && one.network === 'base-mainnet')
      const none = { in_flight: [], in_flight_count: 0, in_flight_usd: '0.00' }
      if (base) Object.assign(base, none, { venues_usd: '28.00', liabilities_usd: '40.00' })
    })
    expect(await verify(earn)).toMatchObject({ code: 3 })
    const { code, lines } = await verify(earn, ['--venue', `base-mainnet=${wallet}:${vault.address}`])
    expect(lines).toContainEqual(
      expect.stringMatching(/^ok +treasury base.*holds 12\.00, (30\.00|29\.99\d+) on its way to venues/),
    )
    expect(code).toBe(0)
  })

  test('proves a saved response instead of a key', async () => {
    const session = asHeaders(await signed(signerOf(buyer), 'session', market.now()))
    const { body } = await market.client().get('/api/solvency/proof', { headers: session })
    const file = join(folder, 'proof.json')
    writeFileSync(file, JSON.stringify(body))
    const { code, lines } = await verify(() => {}, ['--proof', file])
    expect(code).toBe(3)
    expect(lines).toContainEqual(expect.stringMatching(/^ok +leaf escrow:base-mainnet:order:a/))
    writeFileSync(
      file,
      JSON.stringify({ data: [{ ...body.data[0], snapshot_id: 'rsv_1_00000000000000000' }] }),
    )
    await expectFailed(() => {}, /leaf .* neither anchored nor published/, ['--proof', file])
  })

  test('fails for a leaf with another amount, holder or sum beside it', async () => {
    const onLeaf = (tamper: (proof: Json) => void) =>
      onPath('/api/solvency/proof', (proofs) => {
        for (const proof of proofs) tamper(proof)
      })
    const other = /leaf escrow:base-mainnet:order:a +the proof results in another root/
    await expectFailed(
      onLeaf(({ leaf }) => {
        leaf.micros = '4000000'
      }),
      other,
    )
    await expectFailed(
      onLeaf((proof) => {
        if (proof.path.length > 0) proof.path[0].sum = '0'
      }),
      other,
    )
    await expectFailed(
      onLeaf((proof) => {
        if (proof.path.length > 0) proof.path[0].sum = '-1'
      }),
      /leaf escrow:base-mainnet:order:a +a sum is not a number/,
    )
  })

  test('fails for a root that is not in the text, and for a text that is not the memo on the chain', async () => {
    const onAnchor = (tamper: (anchor: Json) => void) =>
      onPath('/api/solvency/anchors', ([anchor]) => tamper(anchor))
    await expectFailed(
      onAnchor(({ networks }) => {
        networks[0].root = '0'.repeat(64)
      }),
      /anchor .* the text is not the hash of the listed roots/,
    )
    // Another text in the field alone.
    await expectFailed(
      onAnchor((anchor) => {
        anchor.text = anchor.text.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))
      }),
      /anchor .* the text is not the hash of the listed roots/,
    )
    // A consistent list of other roots, as one user could be shown.
    await expectFailed(
      onAnchor((anchor) => {
        anchor.networks = anchor.networks.slice(0, 1).map((one: Json) => ({ ...one, agent_wallets: null }))
        const [one] = anchor.networks
        const line = `${one.network} ${one.snapshot_id} ${one.root} ${one.total_micros}`
        anchor.text = `market.reserves.v1 ${anchor.day} ${createHash('sha256').update(line).digest('hex')}`
      }),
      /anchor .* the memo on the chain is/,
    )
  })

  test('fails for a signature of another key, and proves nothing by one that is left out', async () => {
    const onAnchor = (tamper: (anchor: Json) => unknown) =>
      onPath('/api/solvency/anchors', ([anchor]) => tamper(anchor))
    const [{ text }] = (await market.client().get('/api/solvency/anchors')).body.data
    const forged = await newAccount().signMessage({ message: text })
    await expectFailed(
      onAnchor(({ signatures: [one] }) => Object.assign(one, { signature: forged })),
      /signature .* base-mainnet +the signature is by 0x\w+, not by the treasury/,
    )
    const { code, lines } = await verify(onAnchor((anchor) => Object.assign(anchor, { signatures: [] })))
    expect(code).toBe(3)
    expect(lines).toContainEqual(expect.stringMatching(/^warning +signature .* base-mainnet +not proven/))
  })

  test('fails for a memo of another wallet, and without any anchor', async () => {
    const [{ text }] = (await market.client().get('/api/solvency/anchors')).body.data
    const other = await world.wallet()
    const memo = getAddMemoInstruction({ memo: text }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })
    const signature = await world.run(other, [memo])
    await world.settled(signature, 'finalized')
    await expectFailed(
      onPath('/api/solvency/anchors', ([anchor]) => {
        anchor.anchored.signature = signature
      }),
      new RegExp(`anchor .* the transaction is signed by ${other.address}`),
    )
    await expectFailed(
      onPath('/api/solvency/anchors', (anchors) => anchors.splice(0)),
      /anchor .*no day is anchored/,
    )
  })

  test('fails for money in flight that no transaction shows, listed twice, and for an old snapshot', async () => {
    const onBase = (tamper: (base: Json) => void) =>
      onPath('/api/solvency', (data) => {
        const base = data.find((one: Json) => one.network === 'base-mainnet' && one.in_flight !== undefined)
        if (base !== undefined) tamper(base)
      })
    await expectFailed(
      onBase((base) => {
        base.in_flight = []
        base.in_flight_count = 0
      }),
      /treasury base-mainnet .*the transactions in flight add up to 0\.00, not to 2\.00/,
    )
    await expectFailed(
      onBase((base) => {
        base.in_flight[0].reference = `0x${'1'.repeat(64)}`
      }),
      /treasury base-mainnet .*owes 14\.00.*: 2\.00 is missing/,
    )
    await expectFailed(
      onBase((base) => {
        base.in_flight.push(base.in_flight[0])
        base.in_flight_count = 2
        base.in_flight_usd = '4.00'
      }),
      /treasury base-mainnet .*listed twice/,
    )
    await expectFailed(
      onBase((base) => {
        base.checked_at = '2020-01-01T00:00:00.000Z'
      }),
      /treasury base-mainnet .*the newest snapshot is of 2020/,
    )
  })

  test('fails for a treasury that holds too little', async () => {
    await network.transfer(treasury.account, buyer.address, 500_000n)
    await expectFailed(() => {}, /treasury base-mainnet .*holds 11\.50.*: 0\.50 is missing/)
    await network.transfer(buyer, treasury.account.address, 500_000n)
  })

  test('fails when the treasury published another text of the same day, not when another wallet did', async () => {
    const [{ day }] = (await market.client().get('/api/solvency/anchors')).body.data
    const memo = getAddMemoInstruction(
      { memo: `market.reserves.v1 ${day} ${'0'.repeat(64)}` },
      { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 },
    )
    const other = await world.wallet()
    const toTreasury = getTransferSolInstruction({
      source: other,
      destination: world.treasury.address,
      amount: 1_000_000n,
    })
    await world.settled(await world.run(other, [toTreasury, memo]), 'finalized')
    const { lines } = await verify(() => {})
    expect(lines).toContainEqual(expect.stringMatching(/^ok +anchor/))
    await world.settled(await world.run(world.treasury, [memo]), 'finalized')
    await expectFailed(() => {}, /anchor .* published another text of that day/)
  })
})
