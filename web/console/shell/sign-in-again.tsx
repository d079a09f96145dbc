import { type ReactNode, useEffect, useRef, useState } from 'react';

/** Covers the page and its dialogs, which stay mounted with their input but cannot be seen or focused. */
export function SignInAgain({ children }: { children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [titleBelow] = useState(() => document.title);
  useEffect(() => {
    dialog.current?.showModal();
    return () => {
      document.title = titleBelow;
    };
  }, [titleBelow]);
  return (
    <dialog
      ref={dialog}
      className="sign-in-again"
      aria-label="Sign in again"
      onCancel={(event) => event.preventDefault()}
      // A browser may close a dialog when Escape is pressed twice.
      onClose={() => dialog.current?.showModal()}
    >
      {children}
    </dialog>
  );
}
