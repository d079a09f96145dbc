import { type ReactNode, useEffect, useRef, useState } from 'react';

/** Lies over the page and its dialogs, which can neither be seen nor reached meanwhile, but keep what was typed. */
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
      // A browser may close it all the same when Escape is pressed twice.
      onClose={() => dialog.current?.showModal()}
    >
      {children}
    </dialog>
  );
}
