// Package probe attacks a whole server in this process, with real authentication and real
// databases: nobody may see, change or notice what is another's.
//
// A new route, tool, resource, verb or table fails the tests until it has a row in the list of
// surfaces, or of tables; surfaces_test.go and tables_test.go say how to add one.
package probe
