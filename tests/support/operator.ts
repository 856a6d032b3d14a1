import type { SwitchName } from '@market/contract/define'
import type { Market } from './market.ts'
import { ADMIN_USER } from './settings.ts'

export const operatorToken = (market: Market): Promise<string> => market.idp.token({ sub: ADMIN_USER })

export async function turn(market: Market, name: SwitchName, on: boolean): Promise<void> {
  const bearer = await operatorToken(market)
  const reply = await market
    .client()
    .put(`/api/admin/switches/${name}`, { on, reason: 'A test turns it' }, { bearer })
  if (reply.status !== 200) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
}

/** The switch is off again whatever happens, so that one failing test fails alone. */
export async function whileOn(market: Market, name: SwitchName, work: () => Promise<void>): Promise<void> {
  await turn(market, name, true)
  try {
    await work()
  } finally {
    await turn(market, name, false)
  }
}
