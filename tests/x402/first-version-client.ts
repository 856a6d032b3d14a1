import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { BRIEF, DUE, startPurchaseWorld } from './purchase-world.ts'

/**
 * The unmodified client of version 1 buys through its route. It has about 440 dependencies, so it is installed
 * in a separate folder by this command only.
 */
const run = promisify(execFile)
const PACKAGES = {
  private: true,
  type: 'module',
  dependencies: { 'x402-fetch': '1.2.0', viem: '2.57.1' },
  // Its optional dependencies cannot be installed on every platform.
  overrides: { viem: '2.57.1' },
}
const HIRE = `
import { privateKeyToAccount } from 'viem/accounts'
import { wrapFetchWithPayment } from 'x402-fetch'
const [url, key, most, body] = process.argv.slice(2)
const paying = wrapFetchWithPayment(fetch, privateKeyToAccount(key), BigInt(most))
const response = await paying(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
console.log(JSON.stringify({ status: response.status, body: await response.json() }))
`

const folder = mkdtempSync(join(tmpdir(), 'market-v1-'))
const world = await startPurchaseWorld()
try {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(PACKAGES))
  writeFileSync(join(folder, 'hire.js'), HIRE)
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder })
  const { chain, treasury } = world.base
  const key = generatePrivateKey()
  await chain.mint(privateKeyToAddress(key), 2n * DUE)
  const { serviceId } = await world.newSeller()
  const url = `${world.market.url}/api/x402/v1/pay?service_id=${serviceId}`
  const args = ['hire.js', url, key, String(DUE), JSON.stringify({ brief: BRIEF })]
  const { stdout } = await run(process.execPath, args, { cwd: folder })
  const told = JSON.parse(stdout) as { status: number; body: { data?: { status?: string } } }
  const got = await chain.balanceOf(treasury)
  process.stdout.write(
    `x402-fetch 1.2.0: ${told.status} ${told.body.data?.status}, the treasury got ${got}\n`,
  )
  if (told.status !== 200 || told.body.data?.status !== 'paid' || got !== DUE) process.exitCode = 1
} finally {
  await world.stop()
  rmSync(folder, { recursive: true, force: true })
}
