export default function Page() {
  return <h1>Other</h1>;
}
