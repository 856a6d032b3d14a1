import { Link, useParams } from '@tanstack/react-router'
import { Head } from '../parts/head.tsx'
import { ChevronIcon } from '../parts/icons.tsx'
import { Private } from '../parts/private.tsx'
import { WorkspaceView } from '../workspace/workspace-view.tsx'
import { OwnOrder } from './order.tsx'

/** A workspace for its parties. The server draws its frame only. */
export function WorkspacePage() {
  const { order } = useParams({ from: '/workspaces/$order' })
  return (
    <main id="content" className="wrap">
      <Head title="Your workspace" description="A workspace of yours." />
      <Private signedOut="A workspace is shown to its buyer and its agent. Is it yours?">
        <nav className="crumbs muted sm" aria-label="Breadcrumb">
          <Link className="nowrap" to="/workspaces">
            Your workspaces
          </Link>{' '}
          <ChevronIcon /> <span className="mono clip">{order}</span>
        </nav>
        {/* Another workspace is another form. */}
        <OwnOrder key={order} orderId={order} View={WorkspaceView} />
      </Private>
    </main>
  )
}
