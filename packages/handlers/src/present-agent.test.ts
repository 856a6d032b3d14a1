import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import { solanaSigner } from '@market/testing/solana-signer'
import { expect, test } from 'vitest'
import type { HandlerContext } from './handler.ts'
import { presentWallet } from './present-agent.ts'

const signatures = walletSignatures({
  domain: 'market.example',
  uri: 'https://market.example',
  evmRpcUrls: [],
})

/** Counts how often an address is parsed: a Solana address costs half a millisecond of CPU. */
function counting() {
  const counter = { parsed: 0 }
  const parse = (wallet: string) => {
    counter.parsed++
    return signatures.parseWallet(wallet)
  }
  return { counter, ctx: { signatures: { ...signatures, parseWallet: parse } } as unknown as HandlerContext }
}

test('presentWallet: returns 100 Solana addresses as stored without parsing them', async () => {
  const { counter, ctx } = counting()
  const signers = await Promise.all(Array.from({ length: 100 }, solanaSigner))
  const wallets = signers.map((signer) => signer.address)
  expect(wallets.map((wallet) => presentWallet(ctx, wallet))).toEqual(wallets)
  expect(wallets.every((wallet) => signatures.parseWallet(wallet)?.address === wallet)).toBe(true)
  expect(counter.parsed).toBe(0)
})

test('presentWallet: returns an EVM address with its checksum, and null for no wallet', () => {
  const { ctx } = counting()
  const address = '0x52908400098527886E0F7030069857D2E4169EE7'
  expect(presentWallet(ctx, address.toLowerCase())).toBe(address)
  expect(presentWallet(ctx, null)).toBeNull()
})
