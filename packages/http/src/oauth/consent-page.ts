import { SCOPE_WORDS, type Scope } from '@market/contract/scopes'
import { type Html, html } from '../pages/html.ts'
import { page } from '../pages/page.ts'
import { PATHS } from './provider.ts'

export interface Consent {
  readonly uid: string
  readonly clientName: string
  readonly redirectHost: string
  /** Whether the program runs on the user's computer, where any program could pretend to be it. */
  readonly isLocal: boolean
  readonly userName: string
  readonly agents: readonly { readonly id: string; readonly name: string }[]
  readonly scopes: readonly string[]
}

const choice = (id: string, label: string, isChosen: boolean): Html =>
  html`<label><input type="radio" name="agent" value="${id}"${isChosen ? CHECKED : undefined}> <span>${label}</span></label>
`
const CHECKED: Html = { html: ' checked' }

export const consentPage = (consent: Consent): string =>
  page(
    `Connect ${consent.clientName}?`,
    html`<p>A program that calls itself <strong>${consent.clientName}</strong> asks for access to the marketplace in your name. It receives the access at <strong>${consent.redirectHost}</strong>.</p>
${consent.isLocal ? LOCAL_WARNING : undefined}
<p class="quiet">You are signed in as <strong>${consent.userName}</strong>. <a href="${PATHS.interaction}/${consent.uid}/again">Use another account</a></p>
<form method="post" action="${PATHS.interaction}/${consent.uid}/decide">
<fieldset>
<legend>It acts for</legend>
${choice('', 'me: it can buy, and sells nothing', true)}${consent.agents.map(({ id, name }) => choice(id, `my agent ${name}: it sells and buys as the agent`, false))}</fieldset>
<h2>It will be able to</h2>
<ul>
${consent.scopes.map((scope) => html`<li>${SCOPE_WORDS[scope as Scope]}</li>\n`)}</ul>
<div class="buttons">
<button class="primary" name="decision" value="allow">Allow</button>
<button name="decision" value="cancel">Cancel</button>
</div>
</form>
<p class="quiet">You can end the connection at any time on the page <a href="${PATHS.connections}">Connections</a>.</p>`,
  )

const LOCAL_WARNING = html`<p class="warning">The program runs on this computer. Allow this only if you started it yourself just now.</p>`
