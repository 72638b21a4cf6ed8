/** What each submitter may spend per day, what they have spent, and what is reserved for running tasks. */
import { call } from '../data/source.ts'
import { Confirm } from '../parts/ask.tsx'
import { Button, Empty } from '../parts/common.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { money } from '../words.ts'
import { type Budget, EVERYONE, leftOf } from './money.ts'
import { Shares } from './shares.tsx'
import { lookNow } from './use-fleet.ts'

export function Budgets({ budgets }: { budgets: readonly Budget[] }) {
  return (
    <section class="card budgets" aria-label="Budgets">
      <header>
        <h2>Budgets</h2>
        <p class="muted grow">Per day (UTC). A task waits while its submitter has too little left.</p>
        <Button run={() => change()}>Add a budget …</Button>
      </header>
      {budgets.length === 0 ? (
        <Empty title="No budgets">
          <p>Nobody has a spending limit. Add a budget for one submitter or for everybody.</p>
        </Empty>
      ) : (
        <ul>
          {budgets.map((budget) => (
            <BudgetRow key={budget.submitter} budget={budget} />
          ))}
        </ul>
      )}
    </section>
  )
}

function BudgetRow({ budget }: { budget: Budget }) {
  const { submitter, usd_per_day, spent_usd, reserved_usd } = budget
  const isEveryone = submitter === EVERYONE
  const name = isEveryone ? 'Everybody else (each)' : submitter
  return (
    <li class="budget">
      <div>
        <strong>{name}</strong>
        <small class="number">{money(usd_per_day)} per day</small>
      </div>
      {isEveryone ? (
        <span class="muted">For submitters without their own budget</span>
      ) : (
        <div class="budget-use">
          <Shares
            parts={[
              { name: 'spent', n: spent_usd },
              { name: 'reserved', n: reserved_usd },
            ]}
            whole={usd_per_day}
          />
          <small class="number">
            <span class="share-key spent" aria-hidden="true" /> {money(spent_usd)} spent
            <span class="share-key reserved" aria-hidden="true" /> {money(reserved_usd)} reserved
            <strong>{money(leftOf(budget))} left</strong>
          </small>
        </div>
      )}
      <div class="worker-actions">
        <Button run={() => change(budget)} label={`Change the budget: ${name}`}>
          Change …
        </Button>
        <Button kind="quiet" run={() => remove(budget, name)} label={`Remove the budget: ${name}`}>
          Remove …
        </Button>
      </div>
    </li>
  )
}

function change(budget?: Budget): void {
  showModal(
    <FormDialog
      title={budget ? 'Change a budget' : 'Add a budget'}
      send="Save"
      run={async ({ text }) => {
        const submitter = budget?.submitter ?? text('submitter') ?? EVERYONE
        const amount = Number(text('amount'))
        if (!(amount >= 0)) throw new Error('The amount must be a number of dollars, such as 20 or 7.50.')
        await call('set_budget', { submitter, usd_per_day: amount })
        lookNow()
      }}
    >
      {!budget && (
        <label>
          Submitter
          <input name="submitter" placeholder="empty: everybody without their own budget" spellcheck={false} />
        </label>
      )}
      <label>
        {budget && budget.submitter !== EVERYONE ? `Dollars per day for ${budget.submitter}` : 'Dollars per day'}
        <input
          name="amount"
          type="number"
          inputMode="decimal"
          min="0"
          step="any"
          required
          autofocus
          defaultValue={budget ? String(budget.usd_per_day) : ''}
        />
      </label>
      <p class="muted">Takes effect immediately. Running tasks are not stopped.</p>
    </FormDialog>,
  )
}

function remove({ submitter }: Budget, name: string): void {
  showModal(
    <Confirm
      title="Remove this budget?"
      text={`${name} will no longer have their own limit.`}
      yes="Remove"
      danger
      close={closeModal}
      run={async () => {
        await call('set_budget', { submitter, usd_per_day: null })
        lookNow()
      }}
    />,
  )
}
