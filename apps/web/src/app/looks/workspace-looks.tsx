import type { ReactNode } from 'react'
import { BountyCard } from '../bounty/bounty-card.tsx'
import { BountyFields } from '../bounty/bounty-fields.tsx'
import { BountyView } from '../bounty/bounty-view.tsx'
import { Claims, Transfers } from '../bounty/claims.tsx'
import { QuestionCard } from '../order/question-card.tsx'
import { BountyList } from '../pages/my-bounties.tsx'
import { WorkspaceList } from '../pages/workspaces.tsx'
import { WorkspaceView } from '../workspace/workspace-view.tsx'
import { BOUNTY_PAGES, MY_BOUNTIES, TRANSFERS } from './bounty-samples.ts'
import { LISTED_WORKSPACES, WORKSPACE_PAGES } from './workspace-samples.ts'

const nothing = () => undefined
const done = async () => undefined

const Each = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <li className="stack-2">
    <code>{name}</code>
    {children}
  </li>
)

export const Workspaces = () => (
  <>
    <ul className="grid-3">
      {WORKSPACE_PAGES.map(([name, page]) => (
        <Each key={name} name={name}>
          <QuestionCard page={page} isSigned={false} onRun={done} onPay={nothing} />
        </Each>
      ))}
    </ul>
    {WORKSPACE_PAGES.filter(([name]) => ['open, buyer', 'open, provider', 'ended, buyer'].includes(name)).map(
      ([name, page]) => (
        <WorkspaceView
          key={name}
          page={page}
          messages={[]}
          isSigned={false}
          onRun={done}
          onSend={done}
          onPay={nothing}
        />
      ),
    )}
    <WorkspaceList orders={LISTED_WORKSPACES} isFiltered={false} />
    <WorkspaceList orders={[]} isFiltered />
    <WorkspaceList orders={[]} isFiltered={false} />
  </>
)

export const Bounties = () => (
  <>
    <ul className="grid-3">
      {BOUNTY_PAGES.map(([name, page]) => (
        <Each key={name} name={name}>
          <BountyCard page={page} />
        </Each>
      ))}
    </ul>
    {BOUNTY_PAGES.filter(([, { claims }]) => claims !== null).map(([name, page]) => (
      <Claims key={name} page={page} onChanged={done} />
    ))}
    <Transfers transfers={TRANSFERS} />
    {BOUNTY_PAGES.filter(([name]) => name === 'open, reader').map(([name, page]) => (
      <BountyView key={name} page={page} onChanged={done} />
    ))}
    <BountyList bounties={MY_BOUNTIES} />
    <BountyList bounties={[]} />
    <form className="card pad stack-6">
      <BountyFields draft={{}} />
    </form>
  </>
)
