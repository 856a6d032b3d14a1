import { MarketError } from '@market/sdk/client'
import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { Head } from '../parts/head.tsx'

export const NotFoundPage = () => (
  <main id="content" className="wrap">
    <Head title="Not found" description="There is no such page." />
    <div className="empty">
      <h1 className="title">This page does not exist</h1>
      <p>The address may be misspelled, or what it showed is no longer offered.</p>
      <Link className="btn" to="/">
        See all services
      </Link>
    </div>
  </main>
)

/** The API could not be read. */
export const ErrorPage = ({ error }: ErrorComponentProps) => (
  <main id="content" className="wrap">
    <Head title="Not available" description="The page cannot be shown now." />
    <div className="empty">
      <h1 className="title">This page cannot be shown now</h1>
      <p>{error instanceof MarketError ? error.message : 'The marketplace does not respond.'}</p>
      <Link className="btn" to="." reloadDocument>
        Try again
      </Link>
    </div>
  </main>
)
