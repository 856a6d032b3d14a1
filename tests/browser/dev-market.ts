import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

/** `npm run dev` with its pages and local chains, and a browser. */

type EvmName = 'base-mainnet' | 'alt-mainnet'

interface NetworkAddresses {
  readonly rpc: string
  readonly usdc: string
  readonly treasury: string
}

interface Addresses {
  readonly web: string
  readonly api: string
  readonly control: string
  readonly networks: Readonly<Record<EvmName, NetworkAddresses> & { 'solana-mainnet'?: NetworkAddresses }>
}

export async function startDevMarket({ solana = false } = {}) {
  const args = ['--json', '--port', '0', ...(solana ? [] : ['--no-solana'])]
  const dev = spawn(process.execPath, ['apps/dev/src/main.ts', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(
    createInterface({ input: dev.stdout as NonNullable<typeof dev.stdout> }),
    'line',
  )) as [string]
  const addresses = JSON.parse(line) as Addresses
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  return {
    ...addresses,
    browser,
    base: addresses.networks['base-mainnet'],
    /** Asks the server that simulates the outside world. */
    control: async <T = { readonly tx: string }>(path: string, body: object): Promise<T> => {
      const response = await fetch(addresses.control + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return (await response.json()) as T
    },
    stop: async () => {
      await browser.close()
      if (dev.exitCode !== null) return
      dev.kill('SIGTERM')
      await once(dev, 'exit')
    },
  }
}
export type DevMarket = Awaited<ReturnType<typeof startDevMarket>>
