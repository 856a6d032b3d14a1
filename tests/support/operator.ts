import type { SwitchName } from '@market/contract/define'
import type { ApprovalKind } from '@market/contract/schemas/approval'
import { ADMIN_ROLE } from '@market/testing/idp'
import type { Reply } from './client.ts'
import type { Market } from './market.ts'
import { ADMIN_USER, SECOND_ADMIN_USER } from './settings.ts'

const tokenOf = ({ idp }: Pick<Market, 'idp'>, sub: string): Promise<string> =>
  idp.token({ sub, roles: [ADMIN_ROLE] })

export const operatorToken = (market: Pick<Market, 'idp'>): Promise<string> => tokenOf(market, ADMIN_USER)

export const secondOperatorToken = (market: Market): Promise<string> => tokenOf(market, SECOND_ADMIN_USER)

/** A token of an operator who signed in so many seconds ago. */
export function loginBefore({ idp }: Market, seconds: number, sub = ADMIN_USER): string {
  const now = Math.floor(Date.now() / 1_000)
  const claims = { iss: idp.issuer, aud: idp.audience, sub, iat: now, exp: now + 600 }
  return idp.forge({ ...claims, roles: [ADMIN_ROLE], auth_time: now - seconds })
}

/** The first operator proposes. */
export const proposeAs = async (
  market: Market,
  kind: ApprovalKind,
  payload: object,
  bearer?: string,
): Promise<Reply> =>
  market
    .client()
    .post(
      '/api/admin/approvals',
      { kind, payload, reason: 'The runbook says so' },
      { bearer: bearer ?? (await operatorToken(market)) },
    )

/** The second operator approves. */
export const approveAs = async (market: Market, id: string, bearer?: string): Promise<Reply> =>
  market
    .client()
    .post(`/api/admin/approvals/${id}/approve`, {}, { bearer: bearer ?? (await secondOperatorToken(market)) })

/** Proposed by one operator and approved by the other. */
export async function decideByTwo(market: Market, kind: ApprovalKind, payload: object): Promise<Reply> {
  const proposed = await proposeAs(market, kind, payload)
  if (proposed.status !== 201) throw new Error(`${proposed.status}: ${JSON.stringify(proposed.body)}`)
  return approveAs(market, proposed.body.data.id)
}

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
